package render

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// TestWhichFinalizersGoByThemselves: that of a claim does, if it was seen that nothing uses the claim.
func TestWhichFinalizersGoByThemselves(t *testing.T) {
	t.Parallel()
	p := Plan{Plan: &plan.Plan{Facts: plan.Facts{Unused: []graph.ID{0, 2, 3}}}}
	for object, test := range map[graph.ID]struct {
		finalizers []string
		want       bool
	}{
		0: {[]string{"kubernetes.io/pvc-protection"}, true},
		1: {[]string{"kubernetes.io/pvc-protection"}, false},
		2: {[]string{"kubernetes.io/pv-protection", "example.com/disk"}, false},
		3: {nil, false},
	} {
		if got := p.clears(plan.Blocker{Object: object, Finalizers: test.finalizers}); got != test.want {
			t.Errorf("%v on object %d: %v, want %v", test.finalizers, object, got, test.want)
		}
	}
}

// TestWhatWaitsForFinalizersNamesThoseThatStay: beside a claim, whose finalizer goes by itself, the
// others are named.
func TestWhatWaitsForFinalizersNamesThoseThatStay(t *testing.T) {
	t.Parallel()
	b := graph.NewBuilder()
	typ := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	b.Serve(typ)
	l := b.Listing(typ, "")
	for _, name := range []string{"claim", "kept", "other"} {
		l.Add(graph.Object{Namespace: "n", Name: name, UID: name})
	}
	l.Complete()
	g := b.Build()
	id := func(uid string) graph.ID { id, _ := g.Lookup(uid); return id }
	p := Plan{Plan: &plan.Plan{Graph: g, Facts: plan.Facts{Unused: []graph.ID{id("claim")}}}}
	p.Blockers = []plan.Blocker{{Object: id("kept"), Finalizers: []string{"example.com/keep"}}}
	p.Blocked = []plan.ObjectReason{{Object: id("kept")}, {Object: id("other")}}
	want := "2 objects cannot be deleted until the finalizers are removed"
	if got := p.remarkHeld(); len(got) != 1 || got[0].text != want {
		t.Errorf("%v, want %q", got, want)
	}
	p.Blockers = append(p.Blockers, plan.Blocker{Object: id("claim"), Finalizers: []string{"kubernetes.io/pvc-protection"}})
	p.Blocked = append(p.Blocked, plan.ObjectReason{Object: id("claim")})
	want = "2 objects cannot be deleted until the finalizers of ConfigMap n/kept are removed"
	if got := p.remarkHeld(); len(got) != 1 || got[0].text != want {
		t.Errorf("%v, want %q", got, want)
	}
}
