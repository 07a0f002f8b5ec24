package graph_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestAnnotations: each object has its own, whatever order the nodes come in, and those of a list
// that was discarded count no more.
func TestAnnotations(t *testing.T) {
	annotated := func(name, release string, owners ...graph.OwnerReference) graph.Object {
		o := object("a", name, owners...)
		o.Annotations = map[string]string{"release": release}
		return o
	}
	g := build(
		list(replicaSets, annotated("z", "shop"), annotated("y", "web"), annotated("x", "shop"), object("a", "plain")),
		listing{Type: pods, objects: []graph.Object{annotated("owner", "shop"), annotated("again", "web")},
			outcome: discarded},
		list(pods, object("a", "again"), object("a", "dependent", ref(pods, "owner"))),
	)
	got := map[string]map[string]string{}
	for i := range g.Len() {
		if set := g.Annotations(graph.ID(i)); set != nil {
			got[g.Name(graph.ID(i))] = set
		}
	}
	want := map[string]map[string]string{"x": {"release": "shop"}, "y": {"release": "web"}, "z": {"release": "shop"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
