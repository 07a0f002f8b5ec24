package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// The types that the server of these tests serves.
var (
	pods        = graph.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	configMaps  = graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	secrets     = graph.Type{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true}
	namespaces  = graph.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}
	deployments = graph.Type{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true}
	replicaSets = graph.Type{Group: "apps", Version: "v1", Resource: "replicasets", Kind: "ReplicaSet", Namespaced: true}
	roles       = graph.Type{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles",
		Kind: "ClusterRole"}
	// widgets are served in a second version, and once more by another group: a mirror (GC-032).
	widgets     = graph.Type{Group: "example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true}
	widgetsBeta = graph.Type{Group: "example.com", Version: "v1beta1", Resource: "widgets", Kind: "Widget",
		Namespaced: true}
	mirrors = graph.Type{Group: "mirror.example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true}
	// gadgets and gizmos are two resources of one kind.
	gadgets = graph.Type{Group: "example.com", Version: "v1", Resource: "gadgets", Kind: "Gadget", Namespaced: true}
	gizmos  = graph.Type{Group: "example.com", Version: "v1", Resource: "gizmos", Kind: "Gadget", Namespaced: true}
)

var served = []graph.Type{
	pods, configMaps, secrets, namespaces, deployments, replicaSets, roles, widgets, mirrors, gadgets, gizmos,
}

// outcome is how a listing ended.
type outcome int

const (
	complete outcome = iota
	partial
	discarded
)

// listing is the list of one type in one scope, as it went.
type listing struct {
	graph.Type
	scope   string
	objects []graph.Object
	outcome outcome
}

// list is a complete listing of a type everywhere.
func list(t graph.Type, objects ...graph.Object) listing { return listing{Type: t, objects: objects} }

func newBuilder() *graph.Builder {
	b := graph.NewBuilder()
	for _, t := range served {
		if t == widgets {
			b.Serve(t, widgetsBeta.Version)
			continue
		}
		b.Serve(t)
	}
	return b
}

func build(listings ...listing) *graph.Graph {
	b := newBuilder()
	for _, l := range listings {
		l.add(b)
	}
	return b.Build()
}

func (l listing) add(b *graph.Builder) {
	begun := b.Listing(l.Type, l.scope)
	begun.Add(l.objects...)
	switch l.outcome {
	case complete:
		begun.Complete()
	case discarded:
		begun.Discard()
	}
}

// object returns an object whose uid is made from its name, which therefore has to be the only one
// of that name.
func object(namespace, name string, owners ...graph.OwnerReference) graph.Object {
	return graph.Object{Namespace: namespace, Name: name, UID: "uid-" + name, Owners: owners}
}

// ref returns a correct reference to such an object.
func ref(t graph.Type, name string) graph.OwnerReference {
	return graph.OwnerReference{APIVersion: t.APIVersion(), Kind: t.Kind, Name: name, UID: "uid-" + name}
}

// node returns the node of the object of that name.
func node(t *testing.T, g *graph.Graph, name string) graph.ID {
	t.Helper()
	id, ok := g.Lookup("uid-" + name)
	if !ok {
		t.Fatalf("no node for %s", name)
	}
	return id
}

func nodes(t *testing.T, g *graph.Graph, names ...string) []graph.ID {
	t.Helper()
	var ids []graph.ID
	for _, name := range names {
		ids = append(ids, node(t, g, name))
	}
	return ids
}

func names(g *graph.Graph, ids []graph.ID) string {
	var all []string
	for _, id := range ids {
		all = append(all, g.Ref(id).Name)
	}
	return strings.Join(all, " ")
}

// dump writes all that a graph says, for comparing two.
func dump(g *graph.Graph) string {
	var b strings.Builder
	for i := range g.Len() {
		id := graph.ID(i)
		r := g.Ref(id)
		typ, known := g.Type(id)
		fmt.Fprintf(
			&b, "%d %q type=%v,%v state=%d seen=%v selected=%v annotations=%v finalizers=%q rv=%q gen=%d created=%d deleted=%d\n", id,
			r, typ, known, g.State(id), g.Observed(id), g.Selected(id), g.Annotations(id), g.Finalizers(id),
			g.ResourceVersion(id), g.Generation(id), g.CreationTimestamp(id), g.DeletionTimestamp(id))
		for e := range g.Owners(id) {
			fmt.Fprintf(&b, "  owner %+v\n", e)
		}
		for e := range g.Dependents(id) {
			fmt.Fprintf(&b, "  dependent %d as %s/%s/%s\n", e.Dependent, e.APIVersion, e.Kind, e.Name)
		}
	}
	fmt.Fprintf(&b, "cycles %v\nroots %v\n", g.Cycles(), g.Roots())
	return b.String()
}

// firstDifference makes two dumps that differ readable.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d:\n- %s\n+ %s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines and %d", len(x), len(y))
}
