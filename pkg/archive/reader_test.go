package archive

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// smallArchive is a small archive.
const smallArchive = `apiVersion: gc.kubectl.dev/v1alpha1
kind: Plan
policy: Background
deleted:
- {apiVersion: v1, kind: ConfigMap, namespace: shop, name: a, uid: uid-a}
- {apiVersion: v1, kind: Secret, namespace: shop, name: b, uid: uid-b}
roots:
- {apiVersion: v1, kind: ConfigMap, namespace: shop, name: a, uid: uid-a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop, uid: uid-a}
data:
  text: |
    a text with
     ---
    in it
---
apiVersion: v1
kind: Secret
metadata: {name: b, namespace: shop, uid: uid-b}
`

// file writes a file for the test.
func file(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "archive")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAnArchiveIsRead, compressed or not, and with the line breaks of Windows.
func TestAnArchiveIsRead(t *testing.T) {
	for name, content := range map[string][]byte{"text": []byte(smallArchive), "gzip": gzipped(smallArchive),
		"CRLF": []byte(strings.ReplaceAll(smallArchive, "\n", "\r\n"))} {
		s, err := Verify(file(t, content))
		if err != nil || len(s.Objects) != 2 || len(s.Missing) != 0 || s.Damage != nil || s.Objects[1].Name != "b" {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	s, err := Verify(file(t, []byte(smallArchive[:strings.LastIndex(smallArchive, "---")])))
	if err != nil || len(s.Missing) != 1 || s.Missing[0].UID != "uid-b" || !errors.Is(s.Damage, ErrNotWhole) {
		t.Errorf("without its last object: %+v, %v", s, err)
	}
}

// markedArchive is smallArchive as this version writes it.
var markedArchive = strings.Replace(smallArchive, "kind: Plan\n", "kind: Plan\narchived: 2\n", 1) + endOf(2)

// TestAnArchiveThatIsCutOffIsNotWhole, wherever it is cut off behind its plan, compressed or not.
// No part of an object is taken for the object.
func TestAnArchiveThatIsCutOffIsNotWhole(t *testing.T) {
	t.Parallel()
	first := strings.Index(markedArchive, separator) + len(separator)
	for n := first; n < len(markedArchive)-1; n++ { // without its last line break it is whole
		s, err := Verify(file(t, []byte(markedArchive[:n])))
		if err != nil || !errors.Is(s.Damage, ErrNotWhole) {
			t.Fatalf("%q: %+v, %v", markedArchive[:n], s, err)
		}
		second := strings.LastIndex(markedArchive, separator)
		if want := n - second; (len(s.Objects) != 0) != (want >= len(separator)-1) || len(s.Objects) == 2 {
			t.Fatalf("%q: %d objects", markedArchive[:n], len(s.Objects))
		}
	}
	for name, content := range map[string]string{"whole": markedArchive,
		"without the last line break": markedArchive[:len(markedArchive)-1],
		"a separator after the end":   markedArchive + separator} {
		if s, err := Verify(file(t, []byte(content))); err != nil || s.Damage != nil || len(s.Objects) != 2 {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	zipped := gzipped(markedArchive)
	for n := 1; n <= 8; n++ { // the sum and the length of what is compressed
		s, err := Verify(file(t, zipped[:len(zipped)-n]))
		if err != nil || !errors.Is(s.Damage, ErrNotWhole) || !strings.Contains(s.Damage.Error(), "is cut off") {
			t.Errorf("%d bytes less of a compressed archive: %+v, %v", n, s, err)
		}
	}
	if _, err := Verify(file(t, zipped[:20])); !errors.Is(err, ErrNotWhole) {
		t.Errorf("a compressed archive that is cut off in its plan: %v", err)
	}
}

// TestAnArchiveHasAsManyObjectsAsItSays.
func TestAnArchiveHasAsManyObjectsAsItSays(t *testing.T) {
	t.Parallel()
	last := strings.LastIndex(markedArchive, separator)
	s, err := Verify(file(t, []byte(markedArchive[:last]+endOf(2))))
	if want := "it has 1 object, and its plan says 2"; err != nil || s.Damage == nil ||
		!strings.Contains(s.Damage.Error(), want) || len(s.Missing) != 1 {
		t.Errorf("%+v, %v, want %q", s, err, want)
	}
}

func gzipped(content string) []byte {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte(content))
	_ = w.Close()
	return zipped.Bytes()
}

// TestABrokenArchive is an error that names the file and the line.
func TestABrokenArchive(t *testing.T) {
	plan, _, _ := strings.Cut(smallArchive, "---")
	for name, test := range map[string]struct{ content, want string }{
		"empty":       {"", "is empty: it is no archive of kubectl gc"},
		"white space": {"\n---\n\n", "is empty"},
		"no plan": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, uid: a}\n",
			"line 1: the first document is no Plan"},
		"a plan as it is printed": {plan, "is a plan, not an archive"},
		"no YAML":                 {smallArchive + "---\n{\n", "line 23: "},
		"a list":                  {smallArchive + "---\n- a\n", "line 23: the document is no object"},
		"no kind": {smallArchive + "---\napiVersion: v1\nmetadata: {name: a, uid: c}\n",
			"line 23: the object has no kind"},
		"no uid": {smallArchive + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
			"line 23: the object has no metadata.uid"},
		"metadata is a text": {smallArchive + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: none\n",
			"line 23: the object has no metadata.name"},
		"an object twice": {smallArchive + smallArchive[strings.LastIndex(smallArchive, "---"):],
			"line 23: the object with uid uid-b is on line 19 already"},
	} {
		path := file(t, []byte(test.content))
		if _, err := Verify(path); err == nil || !strings.Contains(err.Error(), test.want) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q and the file", name, err, test.want)
		}
	}
}

// FuzzReader: no archive makes the reader panic, or read without end, and an error names the file.
func FuzzReader(f *testing.F) {
	f.Add([]byte(smallArchive))
	f.Add([]byte(markedArchive))
	f.Add(gzipped(markedArchive))
	f.Add([]byte("---\n---\n{"))
	f.Add([]byte{0x1f, 0x8b, 0})
	f.Add([]byte(
		"apiVersion: gc.kubectl.dev/v1alpha1\nkind: Plan\narchived: -1\ndeleted:\n- &a {name: a}\n- *a\n---\napiVersion: v1\nkind: List\nmetadata: {name: [], uid: {}}\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > 1<<14 {
			return // long ones are slow, and no other
		}
		r := &Reader{path: "some-archive", file: io.NopCloser(nil)}
		err := r.begin(bytes.NewReader(content))
		for n := 0; err == nil; n++ {
			if n > len(content) && !isZipped(content) {
				t.Fatal("more objects than bytes")
			}
			_, _, err = r.Next()
		}
		if !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "some-archive") {
			t.Errorf("%v does not name the file", err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

func isZipped(content []byte) bool { return bytes.HasPrefix(content, []byte{0x1f, 0x8b}) }
