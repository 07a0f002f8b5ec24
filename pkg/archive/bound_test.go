package archive

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// TestASmallFileTakesLittleMemory: what a few kilobytes can be made of is refused before it is
// decoded, wherever in the archive it is.
func TestASmallFileTakesLittleMemory(t *testing.T) {
	t.Parallel()
	const tooMany = 11 * maxDocument / bytesPerToken / 10
	object := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop, uid: uid-c}\n"
	beforeRoots, _, _ := strings.Cut(smallArchive, "roots")
	for name, test := range map[string]struct {
		before, unit string
		times        int
		after        string
		want         string
	}{
		"a long object": {smallArchive + object + "data: {a: '", "text ", maxDocument / 4, "'}\n", "more than 16 MiB"},
		"many lists":    {smallArchive + object + "data: [", "[],", tooMany / 2, "]\n", "elements"},
		"many maps":     {smallArchive + object + "data: [", "{a: },", tooMany / 2, "]\n", "elements"},
		"many lines":    {smallArchive + object + "data:\n", "- a\n", tooMany, "", "elements"},
		"nested lists": {smallArchive + object + "data:\n", strings.Repeat("- ", 9000) + "a\n", tooMany / 9000, "",
			"elements"},
		"aliases": {smallArchive + object + "text: &a '" + strings.Repeat("text ", 20_000) + "'\ndata: [", "*a,", 5000,
			"]\n", "aliases"},
		"a long plan": {strings.TrimSuffix(beforeRoots, "\n") + "\n# ", "text ", 7 << 20, "\n",
			"a document of more than 30 MiB"},
		"entries": {beforeRoots + "roots:\n", "- {}\n", tooMany * 2 / 3, "", "elements"},
		"plan aliases": {"apiVersion: gc.kubectl.dev/v1alpha1\nkind: Plan\npolicy: &a " + strings.Repeat("text", 20_000) +
			"\nroots: [", "{name: *a},", 5000, "]\n", "aliases"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := test.before + strings.Repeat(test.unit, test.times) + test.after
			r := &Reader{path: "some-archive", file: io.NopCloser(nil), size: 60_000} // compressed
			err := r.begin(strings.NewReader(content))
			for err == nil {
				_, _, err = r.Next()
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// TestALongDocumentIsNotReadToItsEnd: also of an object that is passed over and not decoded.
func TestALongDocumentIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	r := &Reader{path: "some-archive", file: io.NopCloser(nil), size: 60_000} // compressed
	err := r.begin(strings.NewReader(smallArchive + "---\ndata: '" + strings.Repeat("text ", maxDocument/4) + "'\n"))
	for err == nil {
		err = r.Skip()
	}
	if !strings.Contains(err.Error(), "a document of more than 16 MiB") {
		t.Error(err)
	}
}

// TestTheEntriesOfAPlanWithShortNamesAreRead, however many there are: they have the most elements.
func TestTheEntriesOfAPlanWithShortNamesAreRead(t *testing.T) {
	t.Parallel()
	o := v1alpha1.ObjectRef{APIVersion: "v1", Kind: "A", Resource: "as", Name: "a", UID: "a"}
	doc, err := yaml.Marshal(v1alpha1.Plan{
		Roots: []v1alpha1.ObjectRef{o}, Deleted: []v1alpha1.ObjectRef{o}, UnreadDisks: []v1alpha1.ObjectRef{o},
		Actions: []v1alpha1.Action{{Verb: "delete", Object: o, By: "client", Wave: 1,
			Owners: []string{"11111111-0000-4000-8000-000000000000"}}},
		Blockers: []v1alpha1.Blocker{{Object: o, Finalizers: []string{"a/b"}}},
		Decided:  []v1alpha1.Decided{{Object: o, Finalizer: "a/b", Field: "spec.a"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := dense(bytes.Repeat(doc, 1+maxDocument/len(doc)), planPerToken); err != nil {
		t.Error(err)
	}
}

// TestWhatAServerStoresIsRead: objects as large as they can be, of text that has the most elements;
// and text that looks as if it had anchors and aliases.
func TestWhatAServerStoresIsRead(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"a table": "data:\n  t: |\n" + strings.Repeat("    1,2\n", 3<<17), // 1.5 MiB besides the indent
		"fields":  "managedFields:\n" + strings.Repeat("  f:a: {}\n", 3<<16),
	} {
		if err := readable([]byte(doc)); err != nil {
			t.Errorf("%s is not written: %v", name, err)
		}
	}
	text := strings.Repeat("- a: [1, 2] # &a *a\n", 100)
	doc, err := document(map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "a", "uid": "u"}, "data": text})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := decode(doc); err != nil || o.Object["data"] != text {
		t.Errorf("it is not read: %v", err)
	}
}
