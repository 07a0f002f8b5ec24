package archive

import (
	"bytes"
	"compress/gzip"
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
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte(smallArchive))
	_ = w.Close()
	for name, content := range map[string][]byte{"text": []byte(smallArchive), "gzip": zipped.Bytes(), "CRLF": []byte(strings.ReplaceAll(smallArchive, "\n", "\r\n"))} {
		s, err := Verify(file(t, content))
		if err != nil || len(s.Objects) != 2 || len(s.Missing) != 0 || s.Objects[1].Name != "b" {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	s, err := Verify(file(t, []byte(smallArchive[:strings.LastIndex(smallArchive, "---")])))
	if err != nil || len(s.Missing) != 1 || s.Missing[0].UID != "uid-b" {
		t.Errorf("without its last object: %+v, %v", s, err)
	}
}

// TestABrokenArchive is an error that names the file and the line.
func TestABrokenArchive(t *testing.T) {
	for name, test := range map[string]struct{ content, want string }{
		"empty":              {"", "is empty: it is no archive of kubectl gc"},
		"white space":        {"\n---\n\n", "is empty"},
		"no plan":            {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, uid: a}\n", "line 1: the first document is no Plan"},
		"no YAML":            {smallArchive + "---\n{\n", "line 23: "},
		"a list":             {smallArchive + "---\n- a\n", "line 23: the document is no object"},
		"no kind":            {smallArchive + "---\napiVersion: v1\nmetadata: {name: a, uid: c}\n", "line 23: the object has no kind"},
		"no uid":             {smallArchive + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "line 23: the object has no metadata.uid"},
		"metadata is a text": {smallArchive + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: none\n", "line 23: the object has no metadata.name"},
		"an object twice":    {smallArchive + smallArchive[strings.LastIndex(smallArchive, "---"):], "line 23: the object with uid uid-b is on line 19 already"},
	} {
		path := file(t, []byte(test.content))
		if _, err := Verify(path); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q and the file", name, err, test.want)
		}
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte(smallArchive))
	_ = w.Close()
	if _, err := Verify(file(t, zipped.Bytes()[:zipped.Len()/2])); err == nil {
		t.Error("half of a compressed archive is no error")
	}
}

// FuzzVerify: no archive makes the reader panic, and an error names the file.
func FuzzVerify(f *testing.F) {
	f.Add([]byte(smallArchive))
	f.Add([]byte("---\n---\n{"))
	f.Add([]byte{0x1f, 0x8b, 0})
	f.Fuzz(func(t *testing.T, content []byte) {
		path := file(t, content)
		if _, err := Verify(path); err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("%v does not name the file", err)
		}
	})
}
