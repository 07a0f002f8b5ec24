package archive

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

var (
	definitions = graph.Type{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
		Kind: "CustomResourceDefinition"}
	configMaps = graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	// sorts before its definition
	gadgets = graph.Type{Group: "a.example.com", Version: "v1", Resource: "gadgets", Kind: "Gadget"}
)

// objects builds a graph whose objects are known by name.
type objects struct{ *graph.Builder }

func (o objects) add(t graph.Type, namespace, name string, owners ...string) {
	object := graph.Object{Namespace: namespace, Name: name, UID: name}
	for _, owner := range owners {
		object.Owners = append(object.Owners,
			graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: owner})
	}
	l := o.Listing(t, "")
	l.Add(object)
	l.Complete()
}

func names(g *graph.Graph, ids []graph.ID) []string {
	var all []string
	for _, id := range ids {
		all = append(all, g.Ref(id).Name)
	}
	return all
}

// TestOwnersFirst: owners, definitions and namespaces stand before what is theirs, however the
// names sort.
func TestOwnersFirst(t *testing.T) {
	o := objects{graph.NewBuilder()}
	o.Serve(configMaps)
	o.add(gadgets, "", "gadget")
	o.add(definitions, "", "gadgets.a.example.com")
	o.add(cluster.NamespaceType, "", "ns")
	o.add(configMaps, "ns", "a", "b", "c")
	o.add(configMaps, "ns", "b", "z")
	o.add(configMaps, "ns", "c", "z", "nowhere")
	o.add(configMaps, "ns", "z")
	o.add(configMaps, "ns", "k", "l") // a cycle of three
	o.add(configMaps, "ns", "l", "m")
	o.add(configMaps, "ns", "m", "k")
	o.add(configMaps, "ns", "self", "self")
	o.add(configMaps, "ns", "left out")
	g := o.Build()
	var ids []graph.ID
	for i := range g.Len() {
		if id := graph.ID(i); g.Observed(id) && g.Ref(id).Name != "left out" {
			ids = append(ids, id)
		}
	}
	order := names(g, ownersFirst(g, link.New(g), ids))
	if len(order) != len(ids) {
		t.Fatalf("%d objects in %v, want %d", len(order), order, len(ids))
	}
	for _, pair := range []string{"gadgets.a.example.com gadget", "ns a", "ns k", "ns l", "ns m", "ns self", "b a", "c a",
		"z b", "z c"} {
		owner, dependent, _ := strings.Cut(pair, " ")
		if slices.Index(order, owner) > slices.Index(order, dependent) {
			t.Errorf("%s stands behind %s: %v", owner, dependent, order)
		}
	}
	if again := names(g, ownersFirst(g, link.New(g), ids)); !slices.Equal(order, again) {
		t.Errorf("%v became %v", order, again)
	}
}

// TestTouched: what goes and what loses a reference, and not what the plan only comes near to.
func TestTouched(t *testing.T) {
	for policy, want := range map[plan.Policy][]string{
		plan.Background: {"child", "grandchild", "owner", "shared"},
		plan.Foreground: {"child", "grandchild", "owner", "shared"},
		plan.Orphan:     {"child", "owner", "shared"},
	} {
		o := objects{graph.NewBuilder()}
		o.Serve(configMaps)
		o.add(configMaps, "ns", "owner", "absent")
		o.add(configMaps, "ns", "child", "owner")
		o.add(configMaps, "ns", "grandchild", "child")
		o.add(configMaps, "ns", "shared", "owner", "another")
		o.add(configMaps, "ns", "below shared", "shared")
		o.add(configMaps, "ns", "another")
		g := o.Build()
		root, ok := g.Lookup("owner")
		if !ok {
			t.Fatal("no owner")
		}
		got := names(g, touched(plan.New(g, []graph.ID{root}, policy, plan.Options{Links: link.New(g)})))
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", policy, got, want)
		}
	}
}
