package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Growth is what a plan does beyond others that were agreed to.
type Growth struct {
	// Deleted are objects that the others do not delete.
	Deleted []graph.ID
	// Written are objects that are not deleted, and that a Consent does not have the writes to:
	// references or finalizers of the collector are removed. Plan.Beyond does not compare them.
	Written []graph.ID
	// Blockers are objects with finalizers of others that were not in the other plans.
	Blockers []Blocker
	// Deadlocked are objects that are never deleted, and that the others delete.
	Deadlocked []ObjectReason
}

// None says that the plan does nothing that was not agreed to.
func (g Growth) None() bool {
	return len(g.Deleted)+len(g.Written)+len(g.Blockers)+len(g.Deadlocked) == 0
}

// Beyond compares the plan with others, of other graphs, by uid: objects that they delete too, and
// finalizers of others on the same objects in them, are no growth.
func (p *Plan) Beyond(agreed ...*Plan) Growth {
	deleted, deadlocked, finalizers := map[string]bool{}, map[string]bool{}, map[string][]string{}
	for _, old := range agreed {
		for _, id := range old.Deleted {
			deleted[old.Graph.Ref(id).UID] = true
		}
		for _, s := range old.Deadlocked {
			deadlocked[old.Graph.Ref(s.Object).UID] = true
		}
		for _, b := range old.Blockers {
			uid := old.Graph.Ref(b.Object).UID
			finalizers[uid] = append(finalizers[uid], b.Finalizers...)
		}
	}
	var g Growth
	for _, id := range p.Deleted {
		if uid := p.Graph.Ref(id).UID; !deleted[uid] && !deadlocked[uid] {
			g.Deleted = append(g.Deleted, id)
		}
	}
	for _, s := range p.Deadlocked {
		if !deadlocked[p.Graph.Ref(s.Object).UID] {
			g.Deadlocked = append(g.Deadlocked, s)
		}
	}
	for _, b := range p.Blockers {
		known := finalizers[p.Graph.Ref(b.Object).UID]
		added := slices.DeleteFunc(slices.Clone(b.Finalizers), func(f string) bool { return slices.Contains(known, f) })
		if len(added) > 0 {
			g.Blockers = append(g.Blockers, Blocker{Object: b.Object, Finalizers: added})
		}
	}
	return g
}
