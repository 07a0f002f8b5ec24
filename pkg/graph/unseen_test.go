package graph_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestObjectsThatWereNamedAndNotSeen: they get nodes behind all others, Absent where everything of
// their type was listed and Unknown elsewhere, and nothing else changes.
func TestObjectsThatWereNamedAndNotSeen(t *testing.T) {
	g := build(list(namespaces, object("", "space")), list(pods, object("a", "pod")))
	named := []graph.Ref{
		{APIVersion: pods.APIVersion(), Kind: pods.Kind, Resource: pods.Resource, Namespace: "b", Name: "gone"},
		{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "a", Name: "it"},
	}
	more, ids := g.WithUnseen(named)
	if more.Len() != g.Len()+2 || len(ids) != 2 || int(ids[0]) != g.Len() {
		t.Fatalf("%d nodes, ids %v", more.Len(), ids)
	}
	for i, want := range []graph.State{graph.Absent, graph.Unknown} {
		ref := more.Ref(ids[i])
		if more.State(ids[i]) != want || more.Observed(ids[i]) || ref.Name != named[i].Name ||
			ref.Namespace != named[i].Namespace || ref.Kind != named[i].Kind {
			t.Errorf("%+v is %s, want %+v %s", ref, more.State(ids[i]), named[i], want)
		}
		for range more.Dependents(ids[i]) {
			t.Error("it has a dependent")
		}
		for range more.Owners(ids[i]) {
			t.Error("it has an owner")
		}
	}
	if _, found := more.Find(pods.Group, pods.Resource, "b", "gone"); found {
		t.Error("an object that is not there is found")
	}
	if len(more.Roots()) != len(g.Roots()) {
		t.Error("it is a root of the forest")
	}
	if id := node(t, more, "pod"); more.Ref(id) != g.Ref(node(t, g, "pod")) {
		t.Error("another node has changed")
	}
	if same, ids := g.WithUnseen(nil); same != g || len(ids) != 0 {
		t.Error("no names make another graph")
	}
}
