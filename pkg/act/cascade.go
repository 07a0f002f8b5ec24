package act

import (
	"iter"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// cascade is what is waited for of one plan. The lock of its waiter guards it.
type cascade struct {
	graph *graph.Graph
	at    []place // by ID
	// list has what is waited for, in the order of the graph; what is over is removed when the list
	// is gone through.
	list []*waited
	// blocking are the references of the graph that were made to block, by index.
	blocking map[int]bool
}

// place is an object of a graph in the wait.
type place struct {
	// waited is nil if the object is not waited for, or if a later plan has it.
	waited *waited
	// awaited says that it is waited for, whichever plan has it.
	awaited bool
}

func newCascade(p *plan.Plan) *cascade {
	c := &cascade{graph: p.Graph, at: make([]place, p.Graph.Len()), list: make([]*waited, 0, len(p.Deleted)),
		blocking: map[int]bool{}}
	for _, a := range preparing(p) {
		for _, index := range a.Edges {
			c.blocking[index] = true
		}
	}
	return c
}

func (c *cascade) add(l *waited) *waited {
	c.at[l.id] = place{waited: l, awaited: true}
	c.list = append(c.list, l)
	return l
}

// count counts the owners and the blockers of what is waited for.
func (c *cascade) count(pending map[string]*waited) {
	for uid := range pending {
		if id, ok := c.graph.Lookup(uid); ok {
			c.at[id].awaited = true
		}
	}
	for l := range c.each {
		l.owners, l.blockers = 0, 0
	}
	for uid := range pending {
		id, ok := c.graph.Lookup(uid)
		if !ok {
			continue
		}
		if l := c.at[id].waited; l != nil {
			for e := range c.graph.Owners(id) {
				if c.at[e.Owner].awaited {
					l.owners++
				}
			}
		}
		for owner := range c.blocked(id) {
			owner.blockers++
		}
	}
}

// forget brings the counts up to date with an object that is not waited for any more.
func (c *cascade) forget(uid string) {
	id, ok := c.graph.Lookup(uid)
	if !ok || !c.at[id].awaited {
		return
	}
	c.at[id] = place{}
	for e := range c.graph.Dependents(id) {
		if l := c.at[e.Dependent].waited; l != nil {
			l.owners--
		}
	}
	for owner := range c.blocked(id) {
		owner.blockers--
	}
}

// blocked iterates over the owners that are waited for and that the references of an object block,
// each once.
func (c *cascade) blocked(id graph.ID) iter.Seq[*waited] {
	return func(yield func(*waited) bool) {
		var seen []graph.ID
		for e := range c.graph.Owners(id) {
			l := c.at[e.Owner].waited
			if l == nil || !e.Block && !c.blocking[e.Index] || slices.Contains(seen, e.Owner) {
				continue
			}
			seen = append(seen, e.Owner)
			if !yield(l) {
				return
			}
		}
	}
}

// each iterates over what is waited for, in the order of the graph.
func (c *cascade) each(yield func(*waited) bool) {
	c.list = slices.DeleteFunc(c.list, func(l *waited) bool { return l.over })
	for _, l := range c.list {
		if !yield(l) {
			return
		}
	}
}
