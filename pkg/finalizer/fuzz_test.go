package finalizer_test

import (
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// FuzzLoad reads what is no pack. What it takes for one must be whole: every entry is found by its
// name.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte(packOf(entry{"a", "prefix: example.com/", "'*'"}, entry{"b", "regex: ^x$", "v1/Pod"})))
	f.Add([]byte("title: x\nfinalizers: [null]"))
	f.Add([]byte("title: x\ncomponents: {a: null}\nfinalizers: [{component: a}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := finalizer.Load(folder(string(data)))
		if err != nil {
			if r != nil {
				t.Error("a registry comes with an error")
			}
			return
		}
		for _, pack := range r.Packs() {
			for _, k := range pack.Finalizers {
				if k.Actor == "" || k.Component == "" || k.OnCompletion() == "" || k.OnRemoval() == "" || k.Form() == "" {
					t.Errorf("%+v is not whole", k)
				}
				if k.Exact != "" && k.Kinds[0] == "*" {
					if _, ok := r.Lookup(k.Exact, "example.com", "Widget"); !ok {
						t.Errorf("%s is loaded and not found", k.Exact)
					}
				}
			}
		}
	})
}

// FuzzLookup asks for any name on any kind. What has the very name comes before everything else.
func FuzzLookup(f *testing.F) {
	r := embedded(f)
	for _, pack := range r.Packs() {
		for _, k := range pack.Finalizers {
			f.Add(k.Form(), "", "Pod")
		}
	}
	f.Fuzz(func(t *testing.T, name, group, kind string) {
		if k, ok := r.Lookup(name, group, kind); ok && k.Exact != "" && k.Exact != name {
			t.Errorf("%q is taken for %s", name, k.Exact)
		}
		if !utf8.ValidString(name) {
			return // YAML has no way to write it
		}
		mine, err := finalizer.Load(folder(packOf(entry{"mine", "exact: " + strconv.Quote(name), "'*'"})))
		if err != nil {
			return // it is no name that a pack may have
		}
		if k, ok := r.With(mine).Lookup(name, group, kind); !ok || k.Exact != name {
			t.Errorf("%q on %s/%s is taken for %s", name, group, kind, k.ID)
		}
	})
}
