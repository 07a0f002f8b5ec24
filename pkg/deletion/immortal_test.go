package deletion

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// TestNobodyIsToldToHaveAnImmortalNamespaceDeleted: another namespace may be refused by what can be
// changed.
func TestNobodyIsToldToHaveAnImmortalNamespaceDeleted(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]bool{"kube-public": false, "team": true} {
		namespaces := graph.Type{Version: "v1", Kind: "Namespace", Resource: "namespaces"}
		b := graph.NewBuilder()
		b.Serve(namespaces)
		list := b.Listing(namespaces, "")
		list.Add(graph.Object{Name: "owner", UID: "owner"}, graph.Object{Name: name, UID: name,
			Owners: []graph.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: "owner", UID: "owner"}}})
		list.Complete()
		g := b.Build()
		owner, _ := g.Lookup("owner")
		owned, _ := g.Lookup(name)
		p := plan.New(g, []graph.ID{owner}, plan.Background, plan.Options{})
		refused := findImmortal(p)
		if change {
			refused = map[graph.ID]string{owned: "no"}
		}
		err := (&Planned{Plan: p.Without(refused), planner: &planner{}}).stuck()
		if hint := answer.Hint(err); err == nil || strings.Contains(hint, "change what refuses it") != change {
			t.Errorf("%s: %v; hint: %s", name, err, hint)
		}
	}
}
