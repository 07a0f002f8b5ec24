package act

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// TestEventsSayThePolicy: what is told of a delete has its propagation policy.
func TestEventsSayThePolicy(t *testing.T) {
	t.Parallel()
	b := graph.NewBuilder()
	pods := graph.Type{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}
	b.Listing(pods, "n").Add(graph.Object{Namespace: "n", Name: "p", UID: "u"})
	g := b.Build()
	id, _ := g.Lookup("u")
	e := ofAction(Deleting, g, plan.Action{Verb: plan.VerbDelete, Object: id, Policy: plan.Foreground}, nil)
	if e.Action.Policy != plan.Foreground || e.Action.Object.Name != "p" || e.Action.Verb != plan.VerbDelete {
		t.Errorf("%+v", e.Action)
	}
}
