package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Ordering is what the stages of an ordered deletion rest on besides the plan.
type Ordering struct {
	// Needs are the controllers that an object needs until it is deleted.
	Needs Needs
	// First reports whether an object is deleted before what nobody is known to wait for: a custom
	// resource, or one with finalizers.
	First func(graph.ID) bool
	// Workload reports whether an object is a workload: one that removes finalizers is deleted
	// before definitions and namespaces.
	Workload func(graph.ID) bool
}

// Ordered plans the same deletion in stages: custom resources, and what has finalizers; controllers
// and the rest; CRDs; namespaces. A stage begins when all is deleted that the one before deletes.
// An object comes before the objects that its controllers need, and before their owners and
// namespaces. What is not among the roots is deleted by a controller, in no stage of its own. If
// there is no such order, the plan is not ordered, and the objects are in OrderCycle.
func (p *Plan) Ordered(o Ordering) *Plan {
	c := newCandidates(p, o)
	opts := p.options
	opts.stages, opts.orderCycle = c.stages()
	return New(p.Graph, p.Roots, p.Policy, opts).With(o.Needs)
}

// OrderCycle are objects each of which has to be gone before the next is deleted, and the last
// before the first, so that there is no ordered deletion; nil if there is one.
func (p *Plan) OrderCycle() []graph.ID { return p.options.orderCycle }

// rank is the order of the stages where nothing else decides it.
type rank int

const (
	customResources rank = iota // and what waits for an actor
	others                      // among them the actors, their webhooks and APIServices
	definitions
	namespaces
)

// candidates are the objects of a deletion whose deletes the client may send.
type candidates struct {
	Ordering
	plan *Plan
	goes map[graph.ID]bool
	// inside are the namespaces and definitions that take an object along.
	inside map[graph.ID][]graph.ID
	ranks  map[graph.ID]rank
	// before are the candidates that have to be gone before an object is deleted, and rather those
	// that would be, if there is no other order.
	before, rather map[graph.ID]map[graph.ID]bool
	// takers are all that takes an object along, directly or not, as far as that was asked.
	takers map[graph.ID]map[graph.ID]bool
}

func newCandidates(p *Plan, o Ordering) *candidates {
	ids := slices.Concat(p.Deleted, Objects(p.Deadlocked))
	slices.Sort(ids)
	c := &candidates{
		Ordering: o, plan: p, goes: graph.SetOf(ids), inside: map[graph.ID][]graph.ID{}, ranks: map[graph.ID]rank{},
		before: map[graph.ID]map[graph.ID]bool{}, rather: map[graph.ID]map[graph.ID]bool{},
		takers: map[graph.ID]map[graph.ID]bool{},
	}
	for _, id := range ids {
		c.note(id)
	}
	for _, id := range p.Roots {
		c.ranks[id] = c.rankOf(id)
	}
	for _, id := range ids {
		if o.First(id) && !special(p.Graph, id) && p.Belongs(id) {
			c.first(id)
		}
	}
	for _, id := range ids {
		c.separate(id, parts(o.Needs[id]))
	}
	c.links(ids)
	return c
}

// note notes what a namespace or a definition takes along.
func (c *candidates) note(id graph.ID) {
	rule, ok := link.Of(c.plan.Graph.Ref(id))
	if !ok {
		return
	}
	s := simulation{Projection: c.plan.end, options: c.plan.options}
	for _, o := range s.content(id, rule) {
		if c.goes[o] {
			c.inside[o] = append(c.inside[o], id)
		}
	}
}

func (c *candidates) rankOf(id graph.ID) rank {
	rule, ok := link.Of(c.plan.Graph.Ref(id))
	switch {
	case ok && rule.Name == link.CRD:
		return definitions
	case ok:
		return namespaces
	case c.First(id):
		return customResources
	}
	return others
}

// first makes an object a candidate of the first rank, or what its controller deletes it with.
func (c *candidates) first(id graph.ID) {
	carrier := c.carrier(id, nil)
	c.ranks[carrier] = customResources
	for e := range c.plan.Graph.Owners(carrier) { // no controller makes it again: it goes before what it belongs to
		if c.goes[e.Owner] {
			precede(c.rather, carrier, c.carrier(e.Owner, nil))
		}
	}
}

// carrier is the topmost object with which an object goes because a program deletes both: its
// controller, or the owner in a link. Deleted alone, the program would make it again. None of the
// excluded is, and nothing that does not belong to the roots.
func (c *candidates) carrier(id graph.ID, excluded map[graph.ID]bool) graph.ID {
	seen := map[graph.ID]bool{id: true}
	for {
		above, ok := c.controller(id)
		if !ok || seen[above] || excluded[above] || !c.plan.Belongs(above) {
			return id
		}
		id = above
		seen[id] = true
	}
}

// controller is what a program deletes an object with.
func (c *candidates) controller(id graph.ID) (graph.ID, bool) {
	for e := range c.plan.Graph.Owners(id) {
		if e.Controller && c.goes[e.Owner] {
			return e.Owner, true
		}
	}
	for _, owner := range c.linked(id) {
		return owner, true
	}
	return 0, false
}

// linked are the objects above one in links by which it is deleted.
func (c *candidates) linked(id graph.ID) []graph.ID {
	var owners []graph.ID
	for _, f := range c.plan.options.Links.Above(id) {
		if owner := f.Owner(); travels(&f) && f.Deletes() && c.goes[owner] && owner != id {
			owners = append(owners, owner)
		}
	}
	return owners
}

// takersOf are all objects whose deletion takes another along, directly or not.
func (c *candidates) takersOf(id graph.ID) map[graph.ID]bool {
	if known, ok := c.takers[id]; ok {
		return known
	}
	takers := map[graph.ID]bool{}
	for queue := []graph.ID{id}; len(queue) > 0; queue = queue[1:] {
		above := slices.Concat(c.inside[queue[0]], c.linked(queue[0]))
		for e := range c.plan.Graph.Owners(queue[0]) {
			if c.goes[e.Owner] {
				above = append(above, e.Owner)
			}
		}
		for _, a := range above {
			if !takers[a] {
				takers[a] = true
				queue = append(queue, a)
			}
		}
	}
	c.takers[id] = takers
	return takers
}

// parts are all parts of actors, each once.
func parts(needed []Removers) []graph.ID {
	var all []graph.ID
	for _, removers := range needed {
		for _, a := range removers {
			all = append(all, a...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// separate has an object go before others, and before whatever takes these along.
func (c *candidates) separate(id graph.ID, later []graph.ID) {
	excluded := map[graph.ID]bool{}
	for _, part := range later {
		if !c.goes[part] || c.followsLate(id, part) {
			continue
		}
		excluded[part] = true
		maps.Copy(excluded, c.takersOf(part))
	}
	if len(excluded) == 0 {
		return
	}
	carrier := id
	if !excluded[id] {
		carrier = c.carrier(id, excluded)
	}
	c.rank(carrier, c.rankOf(carrier))
	for part := range excluded {
		precede(c.before, carrier, part)
		if _, is := c.ranks[part]; !is && c.Workload(part) && slices.Contains(later, part) {
			c.rank(c.carrier(part, nil), others)
		}
	}
}

// rank makes an object a candidate, unless it is one or does not belong to the roots.
func (c *candidates) rank(id graph.ID, r rank) {
	if _, is := c.ranks[id]; !is && c.plan.Belongs(id) {
		c.ranks[id] = r
	}
}

// followsLate reports whether a part goes because an object does, and only once that is gone: the
// collector deletes dependents after their owner unless it is deleted in the foreground.
func (c *candidates) followsLate(id, part graph.ID) bool {
	if c.plan.Policy == Foreground || !c.takersOf(part)[id] {
		return false
	}
	seen := map[graph.ID]bool{}
	for queue := []graph.ID{part}; len(queue) > 0; queue = queue[1:] {
		if len(c.inside[queue[0]])+len(c.linked(queue[0])) > 0 {
			return false
		}
		for e := range c.plan.Graph.Owners(queue[0]) {
			if c.goes[e.Owner] && e.Owner != id && !seen[e.Owner] {
				seen[e.Owner] = true
				queue = append(queue, e.Owner)
			}
		}
	}
	return !slices.ContainsFunc(slices.Collect(maps.Keys(seen)),
		func(owner graph.ID) bool { return !c.takersOf(owner)[id] })
}

// links has the sources of links go before their ends where a pack says so, and guards before what
// they protect.
func (c *candidates) links(ids []graph.ID) {
	for _, id := range ids {
		for _, f := range c.plan.options.Links.Found(id) {
			if f.Definition.Before && c.goes[f.Source] && c.goes[f.End] {
				c.separate(f.Source, []graph.ID{f.End})
			}
		}
	}
	for _, g := range c.plan.Guarded {
		if c.goes[g.Guard] {
			c.separate(g.Guard, []graph.ID{g.Object})
		}
	}
}

// precede notes that an object has to be gone before another is deleted.
func precede(before map[graph.ID]map[graph.ID]bool, first, then graph.ID) {
	if before[then] == nil {
		before[then] = map[graph.ID]bool{}
	}
	before[then][first] = true
}

// stages sorts the candidates into stages, and returns a cycle if that cannot be done.
func (c *candidates) stages() ([][]graph.ID, []graph.ID) {
	left := map[graph.ID]bool{}
	for id := range c.ranks {
		left[id] = true
	}
	var stages [][]graph.ID
	for len(left) > 0 {
		var due []graph.ID
		for id := range left {
			if !c.waits(id, left) {
				due = append(due, id)
			}
		}
		switch {
		case len(due) == 0 && c.rather != nil:
			c.rather = nil
			continue
		case len(due) == 0:
			return nil, c.cycle(left)
		}
		first := slices.MinFunc(due, func(a, b graph.ID) int { return cmp.Compare(c.ranks[a], c.ranks[b]) })
		due = slices.DeleteFunc(due, func(id graph.ID) bool { return c.ranks[id] != c.ranks[first] })
		slices.Sort(due)
		for _, id := range due {
			delete(left, id)
		}
		stages = append(stages, due)
	}
	return stages, nil
}

func (c *candidates) waits(id graph.ID, left map[graph.ID]bool) bool {
	for _, before := range []map[graph.ID]bool{c.before[id], c.rather[id]} {
		for first := range before {
			if left[first] {
				return true
			}
		}
	}
	return false
}

// cycle is one of those that keep what is left from being sorted. Each of them waits for one that
// is left, so that the way back along these comes to a place where it was.
func (c *candidates) cycle(left map[graph.ID]bool) []graph.ID {
	id := slices.Min(slices.Collect(maps.Keys(left)))
	at := map[graph.ID]int{}
	var way []graph.ID
	for {
		if i, seen := at[id]; seen {
			cycle := way[i:]
			slices.Reverse(cycle)
			return cycle
		}
		at[id] = len(way)
		way = append(way, id)
		id = slices.Min(slices.DeleteFunc(slices.Collect(maps.Keys(c.before[id])),
			func(first graph.ID) bool { return !left[first] }))
	}
}
