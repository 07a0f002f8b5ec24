package explain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

const widgetLinks = `title: Widgets
links:
- id: widget-part
  name: part
  from: {category: widget, where: [{field: spec.active, value: 'true'}]}
  ends:
  - {form: reference, field: 'spec.parts[*]'}
  - {form: labels, labels: 'widget={metadata.name}', kinds: [v1/ConfigMap]}
  deletion: {of: end, by: Widgets, finalizer: example.com/widget, policy: foreground, waits: foreground, keep: [{field: spec.keep, value: 'true'}]}
  verified: documentation
  source: https://example.com/
- id: widget-token
  name: token
  from: {kinds: [v1/Secret]}
  ends: [{form: text, field: data.of, kind: v1/ServiceAccount}]
  deletion: {of: source, by: Widgets, finalizer: example.com/token, policy: background, waits: never}
  verified: documentation
  source: https://example.com/
- id: widget-never
  name: never
  from: {kinds: [example.com/Gadget]}
  ends: [{form: text, field: spec.of, kind: v1/ServiceAccount}]
  deletion: {of: guard}
  verified: documentation
  source: https://example.com/
`

const widgetObjects = `# Nothing but a comment.
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets, categories: [all, widget]}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: parts.example.com}
spec: {group: example.com, scope: Cluster, names: {kind: Part, plural: parts}}
---
apiVersion: v1
kind: List
items:
- apiVersion: example.com/v1
  kind: Widget
  metadata: {name: w, namespace: shop, finalizers: [example.com/widget]}
  spec:
    active: true
    parts:
    - {apiVersion: example.com/v1, kind: Part, name: a}
    - {apiVersion: example.com/v1, kind: Part, name: b, uid: '2'}
    - {apiVersion: example.com/v1, kind: Part, name: c}
    - {group: example.com, kind: Gadget, name: g}
- apiVersion: example.com/v1
  kind: Part
  metadata: {name: a, uid: '1'}
- apiVersion: example.com/v1
  kind: Part
  metadata: {name: b, uid: '3'}
- apiVersion: example.com/v1
  kind: Part
  metadata: {name: c}
  spec: {keep: true}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: m, namespace: shop, labels: {widget: w}}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: m, namespace: other, labels: {widget: w}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: idle, namespace: shop}
spec: {parts: [{apiVersion: example.com/v1, kind: Part, name: a}]}
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: shop}
data: {of: robot}
`

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func packLinks(t *testing.T, files map[string]string) (*v1alpha1.LinkTest, error) {
	t.Helper()
	return PackLinks(folder(t, files), &finalizer.Registry{})
}

// TestLinksOfObjects: ends by reference and by label, what is among the objects and what is not,
// and what a deletion does.
func TestLinksOfObjects(t *testing.T) {
	t.Parallel()
	test, err := packLinks(t, map[string]string{"widgets.yaml": widgetLinks, "objects/w.yaml": widgetObjects,
		"objects/README.md": "no object"})
	if err != nil {
		t.Fatal(err)
	}
	deleted := v1alpha1.FoundLink{ID: "widget-part", Name: "part", Of: "end", Owner: "source", Deleted: true,
		By: "Widgets", Policy: "foreground", Waits: true}
	with := func(change func(*v1alpha1.FoundLink)) v1alpha1.FoundLink {
		l := deleted
		l.Field, l.Present = "spec.parts[*]", true
		change(&l)
		return l
	}
	part := func(name, uid string) v1alpha1.ObjectRef {
		return v1alpha1.ObjectRef{APIVersion: "example.com/v1", Kind: "Part", Name: name, UID: uid}
	}
	want := []v1alpha1.LinkSource{
		{
			Object: v1alpha1.ObjectRef{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "shop", Name: "w"},
			Links: []v1alpha1.FoundLink{
				with(func(l *v1alpha1.FoundLink) { l.End = part("a", "1") }),
				with(func(l *v1alpha1.FoundLink) { l.End, l.Present = part("b", "2"), false }),
				with(func(l *v1alpha1.FoundLink) {
					l.End, l.Kept, l.Deleted, l.By, l.Policy, l.Waits = part("c", ""), "spec.keep is true", false, "", "", false
				}),
				with(func(l *v1alpha1.FoundLink) {
					l.End = v1alpha1.ObjectRef{APIVersion: "example.com/", Kind: "Gadget", Namespace: "shop", Name: "g"}
					l.Present = false
				}),
				with(func(l *v1alpha1.FoundLink) {
					l.End = v1alpha1.ObjectRef{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "m"}
					l.Field, l.Labels = "", "widget=w"
				}),
			},
		},
		{
			Object: v1alpha1.ObjectRef{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "s"},
			Links: []v1alpha1.FoundLink{{
				ID: "widget-token", Name: "token", Confirmed: true, Of: "source", Owner: "end", Field: "data.of", Deleted: true,
				By: "Widgets", Policy: "background",
				End: v1alpha1.ObjectRef{APIVersion: "v1", Kind: "ServiceAccount", Namespace: "shop", Name: "robot"},
			}},
		},
	}
	if diff := cmp.Diff(want, test.Sources); diff != "" {
		t.Error(diff)
	}
	if !cmp.Equal(test.Unreached, []string{"widget-never"}) {
		t.Errorf("unreached are %v", test.Unreached)
	}
}

// TestPacksThatCannotBeTested: the error names the file, and the line or the document.
func TestPacksThatCannotBeTested(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, text, want string
	}{
		"a bad pack": {"widgets.yaml", strings.Replace(widgetLinks, "form: labels", "form: label", 1),
			`widgets.yaml:3: link 1 ("widget-part"): "ends", number 2: "form" is "label"`},
		"bad YAML": {"objects/w.yaml", "a: [", "objects/w.yaml: document 1: "},
		"no object": {"objects/w.yaml", widgetObjects + "---\n- a\n",
			"objects/w.yaml: document 7: it is no object"},
		"no name": {"objects/w.yaml", "apiVersion: v1\nkind: Secret\n",
			"document 1: an object needs apiVersion, kind and metadata.name"},
		"an item without one": {"objects/w.yaml", "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Secret}]\n",
			"an object needs apiVersion"},
		"nothing": {"objects/w.yaml", "# nothing\n", "no objects found in objects"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"widgets.yaml": widgetLinks, "objects/w.yaml": widgetObjects}
			files[c.file] = c.text
			if test, err := packLinks(t, files); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v; want %s", test, err, c.want)
			}
		})
	}
	if _, err := packLinks(t, map[string]string{"widgets.yaml": widgetLinks}); err == nil ||
		!strings.Contains(err.Error(), "reading objects") {
		t.Errorf("without objects: %v", err)
	}
}

// TestObjectsThatCannotBeUnderstood are sources all the same, with what could be read of them.
func TestObjectsThatCannotBeUnderstood(t *testing.T) {
	t.Parallel()
	pack := strings.Replace(widgetLinks, "form: text, field: data.of,",
		"form: text, field: data.of, match: '^(?P<name>r.*)$',", 1)
	test, err := packLinks(t, map[string]string{"w.yml": pack,
		"objects/s.json": `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"of":"x"}}`})
	if err != nil || len(test.Sources) != 1 || len(test.Sources[0].Errors) != 1 ||
		!strings.HasPrefix(test.Sources[0].Errors[0], `widget-token: data.of has "x"`) {
		t.Errorf("%v, %+v", err, test)
	}
}

// FuzzReadObjects: whatever a file holds, it is read or refused.
func FuzzReadObjects(f *testing.F) {
	f.Add(widgetObjects)
	f.Add("apiVersion: v1\nkind: List\nitems: [1]\n")
	f.Add("---\n---\nnull\n")
	f.Fuzz(func(t *testing.T, text string) {
		objects, err := ReadObjects(fstest.MapFS{"o/a.yaml": {Data: []byte(text)}}, "o")
		if err == nil && len(objects) == 0 {
			t.Error("no objects and no error")
		}
		for _, o := range objects {
			if o.GetName() == "" || o.GetKind() == "" {
				t.Errorf("an object without a name: %v", o)
			}
		}
	})
}

func TestDiff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ want, got, diff string }{
		{"", "", ""},
		{"a\nb\n", "a\r\nb\n", ""},
		{"a\nb\n", "a\nb", ""},
		{"a\nb\nc\n", "a\nx\nc\n", "  a\n- b\n+ x\n"},
		{"a\nb\nc\nd\n", "a\nc\nd\ne\n", "  a\n- b\n  d\n+ e\n"},
		{"", "a\n", "+ a\n"},
		{"a\n", "", "- a\n"},
	} {
		if got := Diff(c.want, c.got); got != c.diff {
			t.Errorf("%q and %q: %q, want %q", c.want, c.got, got, c.diff)
		}
	}
}
