package finalizer_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// entry is what a test says of an entry: its id, how it matches, and its kinds.
type entry struct{ id, form, kinds string }

// packOf writes a pack of entries.
func packOf(entries ...entry) string {
	var b strings.Builder
	b.WriteString("title: Test\ncomponents: {Widget operator: {}}\nfinalizers:\n")
	for _, e := range entries {
		fmt.Fprintf(&b, "- id: %s\n  %s\n  kinds: [%s]\n", e.id, e.form, e.kinds)
		b.WriteString(
			"  component: Widget operator\n  does: deletes it\n  ifRemoved: it leaks\n  risk: none\n  polarity: cleanup\n  verified: source\n  source: https://example.com\n")
	}
	return b.String()
}

func TestLookupPrecedence(t *testing.T) {
	r := load(t, packOf(
		entry{"regex", "regex: ^[a-z.]+/[a-z]+$", "'*'"},
		entry{"prefix", "prefix: example.com/", "'*'"},
		entry{"longer", "prefix: example.com/wid", "'*'"},
		entry{"suffix", "suffix: m/gadget-long", "'*'"},
		entry{"any", "exact: example.com/widget", "'*'"},
		entry{"pattern", "exact: example.com/widget", "'*.example.com/*'"},
		entry{"named", "exact: example.com/widget", "a.example.com/Widget, v1/Pod"},
		entry{"core", "exact: core", "v1/Pod"},
		entry{"fallback", "regex: ^.*/.*$\n  fallback: true", "'*'"},
	))
	for _, c := range []struct{ name, group, kind, want string }{
		{"example.com/widget", "a.example.com", "Widget", "named"},
		{"example.com/widget", "", "Pod", "named"},
		{"example.com/widget", "a.example.com", "Gadget", "pattern"},
		{"example.com/widget", "example.com", "Widget", "any"},
		{"example.com/widgets", "", "Pod", "longer"},
		{"example.com/other", "", "Pod", "prefix"},
		{"example.com/gadget-long", "", "Pod", "suffix"},
		{"example.org/widget", "", "Pod", "regex"},
		{"example.org/widget-1", "", "Pod", "fallback"},
		{"core", "", "Pod", "core"},
		{"core", "v1", "Pod", "core"},
		{"core", "apps", "Pod", ""},
		{"core", "", "pod", ""},
		{"core/Pod", "", "", "fallback"},
		{"", "", "", ""},
	} {
		k, ok := r.Lookup(c.name, c.group, c.kind)
		if k.ID != c.want || ok != (c.want != "") {
			t.Errorf("%q on %s/%s: %q %v, want %q", c.name, c.group, c.kind, k.ID, ok, c.want)
		}
	}
}

func TestNilKnowsNothing(t *testing.T) {
	var r *finalizer.Registry
	if _, ok := r.Lookup("orphan", "", "Pod"); ok || r.Packs() != nil {
		t.Error("nothing knows something")
	}
}

// TestWith replaces an entry by its id, adds one, and lets one that is as near as another come
// first.
func TestWith(t *testing.T) {
	base := load(t, packOf(entry{"a", "exact: example.com/a", "'*'"}, entry{"b", "exact: example.com/b", "'*'"}),
		strings.Replace(valid, "Widgets", "Gone", 1))
	over := load(t, packOf(entry{"a", "exact: example.org/a", "'*'"}, entry{"mine", "exact: example.com/b", "'*'"},
		entry{"widget", "prefix: example.org/w", "'*'"}))
	r := base.With(over)
	for name, want := range map[string]string{"example.com/a": "", "example.org/a": "a", "example.com/b": "mine",
		"example.com/widget": "", "example.org/widget": "widget"} {
		if k, _ := r.Lookup(name, "", "Pod"); k.ID != want {
			t.Errorf("%s is %q, want %q", name, k.ID, want)
		}
	}
	if n := len(r.Packs()); n != 2 {
		t.Errorf("there are %d packs; the one that has no entry left should be gone", n)
	}
	if k, _ := base.Lookup("example.com/b", "", "Pod"); k.ID != "b" || len(base.Packs()) != 2 {
		t.Errorf("the first changed: %s", k.ID)
	}
}

func TestLookupIsSafeForConcurrentUse(t *testing.T) {
	r := embedded(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if _, ok := r.Lookup("cephcluster.ceph.rook.io", "ceph.rook.io", "CephCluster"); !ok {
					t.Error("not found")
				}
			}
		})
	}
	wg.Wait()
}
