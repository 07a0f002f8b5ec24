package plan

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// Item is an object as the decision about it sees it, without the states of its owners, and the references that it still has.
func (o *Overlay) Item(id graph.ID) (Item, []graph.Edge) {
	item := Item{Deleting: o.is(id, deleting), Orphan: o.is(id, orphan), Foreground: o.is(id, foreground)}
	var refs []graph.Edge
	for e := range o.Owners(id) {
		refs = append(refs, e)
	}
	for e := range o.Dependents(id) {
		item.HasDependents = true
		if o.Waits(e.Dependent) {
			item.DependentForeground = true
			break
		}
	}
	return item, refs
}

// OwnerState judges a reference by the listing and what has happened since. It is what a GET of what the reference names would
// show the collector if nobody else acts (GC-046 to GC-050); an absence that is acted on has to be proven by one.
func (o *Overlay) OwnerState(e graph.Edge) OwnerState {
	switch {
	case e.Problem&graph.Unresolvable != 0:
		return Unknown
	case e.Problem&graph.WrongScope != 0:
		return BadScope
	case e.Problem&(graph.WrongNamespace|graph.WrongName|graph.WrongKind) != 0:
		return Mismatch
	case !o.Graph.Seen(e.Owner):
		if o.Graph.State(e.Owner) == graph.Absent {
			return Absent
		}
		return Unknown
	case o.is(e.Owner, gone):
		return Absent
	case o.Waits(e.Owner):
		return Waiting
	}
	return Solid
}
