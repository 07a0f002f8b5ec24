package plan

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// holding puts finalizers on an object of a graph with an owner 0 and a dependent 1.
func holding(finalizers map[int][]string, dependents int) *Plan {
	b := graph.NewBuilder()
	t := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	b.Serve(t)
	l := b.Listing(t, "")
	for i := range dependents + 1 {
		o := graph.Object{Namespace: "ns", Name: string(rune('a' + i)), UID: string(rune('a' + i)), Finalizers: finalizers[i]}
		if i > 0 {
			o.Owners = []graph.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "a", UID: "a"}}
		}
		l.Add(o)
	}
	l.Complete()
	g := b.Build()
	root, _ := g.Lookup("a")
	return New(g, []graph.ID{root}, Background, Options{})
}

func TestBeyond(t *testing.T) {
	small, x := holding(nil, 1), map[int][]string{1: {"example.com/x"}}
	for name, test := range map[string]struct {
		now           *Plan
		agreed        []*Plan
		deleted, held int
	}{
		"the same":                    {now: holding(nil, 1), agreed: []*Plan{small}},
		"less":                        {now: holding(nil, 0), agreed: []*Plan{small}},
		"a dependent more":            {now: holding(nil, 2), agreed: []*Plan{small}, deleted: 1},
		"a finalizer more":            {now: holding(x, 1), agreed: []*Plan{small}, held: 1},
		"a finalizer less":            {now: holding(nil, 1), agreed: []*Plan{holding(x, 1)}},
		"the finalizer was agreed to": {now: holding(x, 1), agreed: []*Plan{small, holding(x, 1)}},
		"another finalizer": {now: holding(map[int][]string{1: {"example.com/x", "example.com/y"}}, 1),
			agreed: []*Plan{holding(x, 1)}, held: 1},
	} {
		got := test.now.Beyond(test.agreed...)
		if len(got.Deleted) != test.deleted || len(got.Blockers) != test.held || got.None() != (test.deleted+test.held == 0) {
			t.Errorf("%s: %+v, want %d deleted and %d held", name, got, test.deleted, test.held)
		}
		if name == "another finalizer" && len(got.Blockers[0].Finalizers) != 1 {
			t.Errorf("%s: %v, want the new one only", name, got.Blockers[0].Finalizers)
		}
	}
}
