package plan

import (
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Consent is what was agreed to: the writes of some plans, by uids, so that it can be compared with
// plans of later listings. The zero value is an agreement to nothing. It is not safe for concurrent
// use.
type Consent struct {
	objects map[string]writes
	// references are those that are removed, by the uids of dependent and owner.
	references map[[2]string]bool
}

// writes are the kinds of writes to one object.
type writes uint8

const (
	deletes writes = 1 << iota
	unblocks
	makesBlock
	removesFinalizer
	orphans // references to it are removed from all of its dependents, those that come later included
)

// Agree adds what a plan does, and what it goes on to do after others have removed their
// finalizers.
func (c *Consent) Agree(p *Plan) {
	if c.objects == nil {
		c.objects, c.references = map[string]writes{}, map[[2]string]bool{}
	}
	for _, actions := range [][]Action{p.Actions, p.after} {
		for _, a := range actions {
			c.agree(p.Graph, a)
		}
	}
}

func (c *Consent) agree(g *graph.Graph, a Action) {
	uid := g.Ref(a.Object).UID
	switch a.Verb {
	case VerbDelete, VerbFinalizeNamespace:
		c.objects[uid] |= deletes
		if a.Policy == Orphan {
			c.objects[uid] |= orphans
		}
	case VerbUnblock:
		c.objects[uid] |= unblocks
	case VerbBlock:
		c.objects[uid] |= makesBlock
	case VerbRemoveFinalizer:
		c.objects[uid] |= removesFinalizer
		if a.Because.Code == Orphaned {
			c.objects[uid] |= orphans
		}
	case VerbOrphan:
		for e := range g.Owners(a.Object) {
			if slices.Contains(a.Edges, e.Index) {
				c.references[[2]string{uid, g.Ref(e.Owner).UID}] = true
			}
		}
		if a.Because.Code == OwnerOrphans && a.Because.HasCause {
			c.objects[g.Ref(a.Because.Cause).UID] |= orphans
		}
	}
}

// Allows reports whether a write was agreed to, to an object or to its references to owners, all by
// uid. What may be deleted may be written to in any other way: some of these come before a delete.
func (c *Consent) Allows(verb Verb, object string, owners ...string) bool {
	w := c.objects[object]
	switch {
	case w&deletes != 0:
		return true
	case verb == VerbUnblock:
		return w&unblocks != 0
	case verb == VerbBlock:
		return w&makesBlock != 0
	case verb == VerbRemoveFinalizer:
		return w&removesFinalizer != 0
	case verb == VerbOrphan:
		return !slices.ContainsFunc(owners, func(owner string) bool {
			return c.objects[owner]&orphans == 0 && !c.references[[2]string{object, owner}]
		})
	}
	return false
}

// Deletes reports whether the deletion of an object was agreed to, by uid.
func (c *Consent) Deletes(uid string) bool { return c.objects[uid]&deletes != 0 }

// Len returns the number of objects and references that anything was agreed about.
func (c *Consent) Len() int { return len(c.objects) + len(c.references) }

// Keep forgets what was agreed about objects and owners for which keep, called with a uid, is
// false: they are no more.
func (c *Consent) Keep(keep func(uid string) bool) {
	for uid := range c.objects {
		if !keep(uid) {
			delete(c.objects, uid)
		}
	}
	for pair := range c.references {
		if !keep(pair[0]) {
			delete(c.references, pair)
		}
	}
}

// Beyond returns what a plan does that was not agreed to. What holds objects up is not compared: it
// is nothing that is done.
func (c *Consent) Beyond(p *Plan) Growth {
	var g Growth
	written := map[graph.ID]bool{}
	for _, a := range p.Actions {
		if c.allowsAction(p.Graph, a) {
			continue
		}
		switch {
		case a.Verb == VerbDelete:
			g.Deleted = append(g.Deleted, a.Object)
		case !written[a.Object]:
			written[a.Object] = true
			g.Written = append(g.Written, a.Object)
		}
	}
	slices.Sort(g.Deleted)
	g.Deleted = slices.Compact(g.Deleted)
	slices.Sort(g.Written)
	g.Written = slices.DeleteFunc(g.Written, func(id graph.ID) bool {
		_, deleted := slices.BinarySearch(g.Deleted, id)
		return deleted
	})
	return g
}

func (c *Consent) allowsAction(g *graph.Graph, a Action) bool {
	var owners []string
	if a.Verb == VerbOrphan {
		for e := range g.Owners(a.Object) {
			if slices.Contains(a.Edges, e.Index) {
				owners = append(owners, g.Ref(e.Owner).UID)
			}
		}
	}
	return c.Allows(a.Verb, g.Ref(a.Object).UID, owners...)
}

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
		maps.Copy(deleted, old.Graph.UIDs(old.Deleted))
		maps.Copy(deadlocked, old.Graph.UIDs(Objects(old.Deadlocked)))
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
