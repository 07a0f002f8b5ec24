package link_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

var (
	definitions = graph.Type{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
		Kind: "CustomResourceDefinition"}
	namespaces = graph.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}
	configMaps = graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	widgets    = graph.Type{Group: "example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true}
	gadgets    = graph.Type{Group: "example.com", Version: "v1", Resource: "gadgets", Kind: "Gadget"}
	foreign    = graph.Type{Group: "example.org", Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true}
)

// builder builds graphs whose objects are known by namespace/name and refer to each other by it.
type builder struct{ *graph.Builder }

func newBuilder() *builder { return &builder{graph.NewBuilder()} }

// add adds the object of that path, with references to those of the other paths. Which kind a
// reference names makes no difference here.
func (b *builder) add(t graph.Type, path string, owners ...string) {
	namespace, name, _ := strings.Cut(path, "/")
	o := graph.Object{Namespace: namespace, Name: name, UID: path}
	for _, owner := range owners {
		_, ownerName, _ := strings.Cut(owner, "/")
		o.Owners = append(o.Owners, graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: ownerName, UID: owner})
	}
	b.Listing(t, "").Add(o)
}

func dependents(t *testing.T, g *graph.Graph, l *link.Links, path, rule string) string {
	t.Helper()
	id, ok := g.Lookup(path)
	if !ok {
		t.Fatalf("%s is not in the graph", path)
	}
	var all []string
	for _, dependent := range l.Dependents(id) {
		if dependent.Owner != id || dependent.Rule != rule {
			t.Errorf("%s has the link %+v, want one of %d by %s", path, dependent, id, rule)
		}
		all = append(all, g.Ref(dependent.Dependent).UID)
	}
	return strings.Join(all, " ")
}

// TestDefinition: a CRD takes its instances along wherever they are (API-060), and those of no
// other type.
func TestDefinition(t *testing.T) {
	b := newBuilder()
	b.add(definitions, "/widgets.example.com")
	b.add(definitions, "/gadgets.example.com")
	b.add(definitions, "/unused.example.com")
	b.add(widgets, "b/two")
	b.add(widgets, "a/one", "b/two", "a/missing")
	b.add(gadgets, "/gadget")
	b.add(foreign, "a/other")
	b.add(configMaps, "a/widgets.example.com") // only a name
	g := b.Build()
	l := link.New(g)
	for path, want := range map[string]string{
		"/widgets.example.com":  "a/one b/two",
		"/gadgets.example.com":  "/gadget",
		"/unused.example.com":   "",
		"a/one":                 "",
		"a/widgets.example.com": "",
		"a/missing":             "",
	} {
		if got := dependents(t, g, l, path, link.CRD); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// TestVersionOfDefinition: the group decides, not the version in which CRDs are listed.
func TestVersionOfDefinition(t *testing.T) {
	b := newBuilder()
	beta := definitions
	beta.Version = "v1beta1"
	b.add(beta, "/widgets.example.com")
	b.add(widgets, "a/one")
	g := b.Build()
	if got := dependents(t, g, link.New(g), "/widgets.example.com", link.CRD); got != "a/one" {
		t.Errorf("got %q", got)
	}
}

// TestNamespace: a namespace takes all its content along (NS-001). What stands below other content
// is not named, and nothing is left out: not a cycle, not one that something outside owns too.
func TestNamespace(t *testing.T) {
	tests := []struct {
		name    string
		objects [][]string // path and owners
		want    string
	}{
		{"empty", nil, ""},
		{"plain", [][]string{{"a/x"}, {"a/y"}}, "a/x a/y"},
		{"another namespace, and none", [][]string{{"b/x"}, {"/x"}, {"a/x"}}, "a/x"},
		{"owned within", [][]string{{"a/x", "a/y"}, {"a/y"}, {"a/z", "a/x"}}, "a/y"},
		{"owned from outside", [][]string{{"a/x", "/r"}, {"/r"}, {"a/y", "a/x"}}, "a/x"},
		{"owned from within and outside", [][]string{{"a/x", "/r", "a/y"}, {"/r"}, {"a/y"}}, "a/y"},
		{"owner not there", [][]string{{"a/x", "a/gone"}}, "a/x"},
		{"self", [][]string{{"a/x", "a/x"}}, "a/x"},
		{"self, and an owner not there", [][]string{{"a/x", "a/x", "a/gone"}}, "a/x"},
		{"cycle", [][]string{{"a/y", "a/z"}, {"a/z", "a/y"}, {"a/x"}}, "a/x a/y"},
		{"cycle owned from outside", [][]string{{"/r"}, {"a/y", "a/z", "/r"}, {"a/z", "a/y"}}, "a/y"},
		{"cycle owned from within", [][]string{{"a/v", "a/w", "a/x"}, {"a/w", "a/v"}, {"a/x"}}, "a/x"},
		{"cycle that owns a cycle", [][]string{{"a/v", "a/w", "a/x"}, {"a/w", "a/v"}, {"a/x", "a/y"}, {"a/y", "a/x"}}, "a/x"},
		{"cycle through another namespace", [][]string{{"a/x", "b/y"}, {"b/y", "a/x"}}, "a/x"},
		{"two of a cycle through another namespace",
			[][]string{{"a/x", "b/z"}, {"a/y", "a/x"}, {"b/z", "a/y"}, {"a/w", "a/x"}}, "a/x"},
		{"by way of a cluster-scoped object", [][]string{{"a/y", "/r"}, {"/r", "a/x"}, {"a/x"}}, "a/x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBuilder()
			b.add(namespaces, "/a")
			for _, o := range tt.objects {
				typ := configMaps
				if strings.HasPrefix(o[0], "/") {
					typ = gadgets
				}
				b.add(typ, o[0], o[1:]...)
			}
			g := b.Build()
			l := link.New(g)
			if got := dependents(t, g, l, "/a", link.Namespace); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			checkContent(t, g, l, "a")
		})
	}
}

// TestRandomNamespaces: in the tree of a namespace with its links stands all that is in it, and no
// link is to spare.
func TestRandomNamespaces(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			paths := make([]string, 1+r.IntN(20))
			for i := range paths {
				paths[i] = fmt.Sprintf("%s/n%d", []string{"a", "a", "a", "b", ""}[r.IntN(5)], i)
			}
			b := newBuilder()
			b.add(namespaces, "/a")
			b.add(namespaces, "/b")
			for _, path := range paths {
				var owners []string
				for range max(0, r.IntN(5)-2) {
					owners = append(owners, paths[r.IntN(len(paths))])
				}
				typ := configMaps
				if path[0] == '/' {
					typ = gadgets
				}
				b.add(typ, path, owners...)
			}
			g := b.Build()
			l := link.New(g)
			checkContent(t, g, l, "a")
			checkContent(t, g, l, "b")
		})
	}
}

func checkContent(t *testing.T, g *graph.Graph, l *link.Links, namespace string) {
	t.Helper()
	root, ok := g.Lookup("/" + namespace)
	if !ok {
		t.Fatalf("namespace %s is not in the graph", namespace)
	}
	links := l.Dependents(root)
	missing := func(links []graph.Link) []string {
		shown := map[graph.ID]bool{}
		follow := func(id graph.ID) []graph.Link {
			if id == root {
				return links
			}
			return nil
		}
		for _, row := range g.Tree([]graph.ID{root}, graph.TreeOptions{Depth: -1, Links: follow}) {
			shown[row.ID] = true
		}
		var missing []string
		for i := range g.Len() {
			if id := graph.ID(i); g.Observed(id) && g.Ref(id).Namespace == namespace && !shown[id] {
				missing = append(missing, g.Ref(id).Name)
			}
		}
		return missing
	}
	if m := missing(links); len(m) > 0 {
		t.Errorf("not in the tree of namespace %s: %v", namespace, m)
	}
	for i, spare := range links {
		if m := missing(slices.Delete(slices.Clone(links), i, i+1)); len(m) == 0 {
			t.Errorf("the link of namespace %s to %s is to spare", namespace, g.Ref(spare.Dependent).Name)
		}
	}
	if !slices.IsSortedFunc(links, func(a, b graph.Link) int { return int(a.Dependent) - int(b.Dependent) }) {
		t.Errorf("the links of namespace %s are not in order", namespace)
	}
}
