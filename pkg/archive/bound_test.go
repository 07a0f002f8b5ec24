package archive

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestASmallFileTakesLittleMemory: what a few kilobytes can be made of is refused before it is
// decoded, wherever in the archive it is.
func TestASmallFileTakesLittleMemory(t *testing.T) {
	t.Parallel()
	object := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop, uid: uid-c}\n"
	for name, test := range map[string]struct {
		before, unit string
		times        int
		after        string
		want         string
	}{
		"a long object": {smallArchive + object + "data: {a: '", "text ", maxDocument / 4, "'}\n", "more than 16 MiB"},
		"many lists":    {smallArchive + object + "data: [", "[],", maxDocument / 4, "]\n", "elements"},
		"many maps":     {smallArchive + object + "data: [", "{a: },", maxDocument / 7, "]\n", "elements"},
		"many lines":    {smallArchive + object + "data:\n", "- a\n", maxDocument / 5, "", "elements"},
		"nested lists":  {smallArchive + object + "data:\n", strings.Repeat("- ", 9000) + "a\n", maxDocument / 20_000, "", "elements"},
		"aliases":       {smallArchive + object + "text: &a '" + strings.Repeat("text ", 200_000) + "'\ndata: [", "*a,", 5000, "]\n", "aliases"},
		"a long plan":   {strings.TrimSuffix(smallArchive[:strings.Index(smallArchive, "roots")], "\n") + "\n# ", "text ", 12 << 20, "\n", "a document of more than"},
		"entries":       {smallArchive[:strings.Index(smallArchive, "roots")] + "roots:\n", "- {}\n", maxDocument / 5, "", "elements"},
		"plan aliases":  {"apiVersion: gc.kubectl.dev/v1alpha1\nkind: Plan\npolicy: &a " + strings.Repeat("text", 200_000) + "\nroots: [", "{name: *a},", 5000, "]\n", "aliases"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var zipped bytes.Buffer
			w := gzip.NewWriter(&zipped)
			for _, part := range []struct {
				text  string
				times int
			}{{test.before, 1}, {test.unit, test.times}, {test.after, 1}} {
				for range part.times {
					_, _ = io.WriteString(w, part.text)
				}
			}
			_ = w.Close()
			if _, err := Verify(file(t, zipped.Bytes())); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%d bytes: %v, want %q", zipped.Len(), err, test.want)
			}
		})
	}
}

// TestWhatAServerStoresIsRead: objects as large as they can be, of text that has the most elements.
func TestWhatAServerStoresIsRead(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]any{
		"a table":    map[string]any{"t": strings.Repeat("1,2\n", 3<<16)},
		"a manifest": map[string]any{"t": strings.Repeat("- a: [1, 2] # &a *a\n", 1<<16)},
		"fields":     fields(20_000),
	} {
		doc, err := document(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "uid": "u"}, "data": data})
		if err != nil {
			t.Fatal(err)
		}
		if err := readable(doc); err != nil {
			t.Errorf("%s is not written: %v", name, err)
		}
		if _, err := decode(doc); err != nil {
			t.Errorf("%s is not read: %v", name, err)
		}
	}
}

// fields are as in managedFields, of which a large object mostly consists.
func fields(n int) map[string]any {
	all := map[string]any{}
	for i := range n {
		all[fmt.Sprintf("f:field-%06d", i)] = map[string]any{}
	}
	return all
}
