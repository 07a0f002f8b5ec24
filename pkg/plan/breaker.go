package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// The thresholds of the breaker (P-18, X-08). It cannot tell a backup that was restored from a
// collector that was off for a month: both leave dependents whose owners are gone. It stops where a
// mistake would cost most, and whoever knows better says so.
const (
	// manyReplaced is from how many owners of a kind on, all under names that other objects have
	// now, something has happened to the cluster and not to them: a backup was restored, and its
	// references name uids that are no more. One owner that is deleted and created again under its
	// name is ordinary, and so are two at a time; most of a kind at once are not.
	manyReplaced = 3
	// manyGone is from how many owners of a kind on it is suspicious that nearly all of them are
	// gone. Deleting a few objects of a kind, the last ones among them, is ordinary.
	manyGone = 10
	// goneToAlive is how many owners of a kind are gone for each that is alive if nearly all are.
	// One survivor says nothing about the others: it may have been created since. Most kinds have
	// far more alive than gone, because the dependents of an owner are collected soon after it. The
	// exception are Jobs: where the collector was off, those that CronJobs have replaced add up,
	// and the dependents of a month of them are an owner loss, which is worth a flag.
	goneToAlive = 9
	// manyDependents is from how many objects on, deleted because of owners of one kind, fewer
	// owners are enough: someOwners, if most of the kind are gone. A single owner with any number
	// of dependents is ordinary: a large Job or Deployment was deleted.
	manyDependents = 1000
	someOwners     = 3
)

// OwnerLoss is a kind of owner that is gone all at once.
type OwnerLoss struct {
	Group, Kind string
	// Absent and Replaced are how many owners of the kind are absent, or have lost their names to
	// other objects, of those because of which the plan deletes objects or removes references;
	// Alive how many owners of the kind are alive, of all that the listing has references to.
	Absent, Replaced, Alive int
	// Dependents are how many objects the plan deletes because of them, to the end of the cascade.
	Dependents int
}

// tooMany reports whether the numbers are those of a mistake, and not of ordinary use.
func (m OwnerLoss) tooMany() bool {
	lost := m.Absent + m.Replaced
	switch {
	case m.Replaced >= manyReplaced && m.Replaced > m.Alive:
		return true
	case lost >= manyGone && lost >= goneToAlive*m.Alive:
		return true
	}
	return m.Dependents >= manyDependents && lost >= someOwners && lost > m.Alive
}

// OwnerLosses returns the kinds of owners that are gone all at once, by group and kind: as after a
// restored backup, or behind a server that lists nothing and says that it has nothing. Whoever
// collects their dependents had better be sure.
//
// What is not written to does not count: neither other namespaces nor objects that Options.Allow
// excludes. Owners that known returns true for do not count either: their deletion was agreed to,
// or seen. It is called with uids; nil knows none. Owners that were lost earlier count too, if the
// plan has any of their kind: what is restored one by one adds up to an owner loss in the end.
func (p *Plan) OwnerLosses(known func(uid string) bool, earlier ...LostOwner) []OwnerLoss {
	c := p.countLost(known)
	if len(c.losses) == 0 {
		return nil
	}
	c.alive()
	for _, o := range earlier {
		id, there := p.Graph.Lookup(o.UID)
		k := groupKind{o.Group, o.Kind}
		if m := c.losses[k]; m != nil && !(there && c.counted[countedOwner{id, k}]) {
			m.add(o.Replaced)
		}
	}
	var losses []OwnerLoss
	for _, m := range c.losses {
		if m.tooMany() {
			losses = append(losses, *m)
		}
	}
	slices.SortFunc(losses, func(a, b OwnerLoss) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind))
	})
	return losses
}

// LostOwner is an owner that is gone and because of which a plan deletes an object or removes a
// reference.
type LostOwner struct {
	Group, Kind, UID string
	// Replaced says that another object has its name.
	Replaced bool
}

// LostOwners returns the owners that OwnerLosses counts as gone, in no order.
func (p *Plan) LostOwners(known func(uid string) bool) []LostOwner { return p.countLost(known).owners }

func (p *Plan) countLost(known func(uid string) bool) *ownerLossCounter {
	c := &ownerLossCounter{plan: p, before: NewProjection(p.Graph, p.options), known: known,
		losses: map[groupKind]*OwnerLoss{}, counted: map[countedOwner]bool{}, because: map[graph.ID]*OwnerLoss{}}
	for _, a := range p.Actions { // causes come before what they cause
		c.action(a)
	}
	return c
}

func (m *OwnerLoss) add(replaced bool) {
	if replaced {
		m.Replaced++
	} else {
		m.Absent++
	}
}

type groupKind struct{ group, kind string }

type countedOwner struct {
	owner graph.ID
	kind  groupKind
}

type ownerLossCounter struct {
	plan    *Plan
	before  *Projection // the cluster before the plan
	known   func(uid string) bool
	losses  map[groupKind]*OwnerLoss
	counted map[countedOwner]bool
	because map[graph.ID]*OwnerLoss // what the deletes of the plan come from
	owners  []LostOwner
}

func kindOf(e graph.Edge) groupKind {
	return groupKind{(graph.Ref{APIVersion: e.APIVersion}).Group(), e.Kind}
}

// action counts the owners that an object has lost, and the object for the first of them or for
// what its owner was deleted for.
func (c *ownerLossCounter) action(a Action) {
	if a.Verb != VerbDelete && a.Verb != VerbOrphan {
		return
	}
	var lost *OwnerLoss
	for e := range c.plan.Graph.Owners(a.Object) {
		if m := c.lost(e); m != nil && lost == nil {
			lost = m
		}
	}
	if a.Verb != VerbDelete {
		return
	}
	if lost == nil && a.Because.HasCause {
		lost = c.because[a.Because.Cause]
	}
	if lost != nil {
		lost.Dependents++
		c.because[a.Object] = lost
	}
}

// lost counts the owner of a reference if it is gone, once, and returns its kind's OwnerLoss; nil
// if it is not, or if that is known.
func (c *ownerLossCounter) lost(e graph.Edge) *OwnerLoss {
	state, uid := c.before.OwnerState(e), c.plan.Graph.Ref(e.Owner).UID
	if state != Absent && state != Replaced || c.known != nil && c.known(uid) {
		return nil
	}
	k := kindOf(e)
	m := c.losses[k]
	if m == nil {
		m = &OwnerLoss{Group: k.group, Kind: k.kind}
		c.losses[k] = m
	}
	if key := (countedOwner{e.Owner, k}); !c.counted[key] {
		c.counted[key] = true
		m.add(state == Replaced)
		c.owners = append(c.owners, LostOwner{Group: k.group, Kind: k.kind, UID: uid, Replaced: state == Replaced})
	}
	return m
}

// alive counts the owners that are alive, of the kinds of which any are gone.
func (c *ownerLossCounter) alive() {
	g := c.plan.Graph
	for id := range g.IDs() {
		if c.before.Gone(id) {
			continue
		}
		for e := range g.Owners(id) {
			k := kindOf(e)
			m := c.losses[k]
			if m == nil {
				continue
			}
			key := countedOwner{e.Owner, k}
			if state := c.before.OwnerState(e); (state == Solid || state == Waiting || state == Orphaning) && !c.counted[key] {
				c.counted[key] = true
				m.Alive++
			}
		}
	}
}

// Deletes returns how many deletes the plan has.
func (p *Plan) Deletes() int {
	n := 0
	for _, a := range p.Actions {
		if a.Verb == VerbDelete {
			n++
		}
	}
	return n
}
