package collect

import (
	"context"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// assessed is an object with what is known of each of its owners.
type assessed struct {
	id     graph.ID
	item   plan.Item
	refs   []graph.Edge
	policy plan.Policy
	cause  plan.ReasonCode
	owner  graph.Ref
}

// item does what attemptToDeleteItem does: resolve the owners, decide, act. The listing is what was
// read of the object. The write carries its resourceVersion, so that the decision is about the
// version that is written to (RO-003).
func (p *pass) item(ctx context.Context, id graph.ID) {
	if p.removeLateOwnerRefs(ctx, id) {
		return
	}
	item, refs, states, ok := p.assess(ctx, id)
	if !ok || item.Deleting {
		return
	}
	item.Owners = states
	j := assessed{id: id, item: item, refs: refs}
	decision := plan.Decide(item, plan.Loop)
	if !p.turn.Takes(item, decision) {
		p.later(id)
		return
	}
	j.explain(p.graph, decision)
	switch decision.Do {
	case plan.Delete:
		if decision.Unblock && !p.unblock(ctx, id, refs, plan.MayBeCycle, j.owner) {
			return
		}
		j.policy = decision.Policy
		p.delete(ctx, j)
	case plan.RemoveOwnerRefs:
		var lost []graph.Edge
		for _, i := range decision.RemoveOwnerRefs {
			lost = append(lost, refs[i])
		}
		p.removeOwnerRefs(ctx, id, lost, j.cause, j.owner)
	}
}

// assess returns an object with its references and what is known of the owner that each names. It
// is false if the context has ended.
func (p *pass) assess(ctx context.Context, id graph.ID) (plan.Item, []graph.Edge, []plan.OwnerState, bool) {
	p.mu.Lock()
	item, refs := p.projection.Item(id)
	states := make([]plan.OwnerState, len(refs))
	for i, e := range refs {
		states[i] = p.projection.OwnerState(e)
	}
	p.mu.Unlock()
	if !item.Deleting && p.worthProving(refs, states) {
		for i, e := range refs {
			if states[i] == plan.Solid || states[i] == plan.BadScope || states[i] == plan.Orphaning {
				continue
			}
			proven := p.prove(ctx, e)
			p.change(func(o *plan.Projection) {
				o.Prove(e, proven)
				states[i] = o.OwnerState(e)
			})
			if states[i] == plan.Orphaning {
				p.again() // whose listing shows that the owner waits
			}
		}
	}
	return item, refs, states, ctx.Err() == nil
}

// worthProving reports whether a live read can change the decision. If all owners are solid, or all
// references that are left cannot be resolved, nothing is read.
func (p *pass) worthProving(refs []graph.Edge, states []plan.OwnerState) bool {
	var solid, open, unresolvable bool
	for i, s := range states {
		switch {
		case s == plan.Solid, s == plan.Orphaning:
			solid = true
		case s == plan.BadScope, s == plan.Unknown && !p.resolvable(refs[i]):
			unresolvable = true
		default:
			open = true
		}
	}
	return open && (solid || !unresolvable)
}

// resolvable reports whether there is a way to find out about the owner that a reference names.
func (p *pass) resolvable(e graph.Edge) bool {
	if e.Problem&(graph.Unresolvable|graph.InexactKind) == 0 {
		return true
	}
	if d, saw := p.loop.deletionOf(p.ownerKey(e)); saw && (d.recent() || d.crd != "") {
		return true
	}
	uid := p.graph.Ref(e.Owner).UID
	return slices.ContainsFunc(p.loop.opts.CRDs, func(d CRD) bool { return d.Instances[uid] })
}

// explain names the owner because of which something is done.
func (j *assessed) explain(g *graph.Graph, v plan.Decision) {
	for i, e := range j.refs {
		s := j.item.Owners[i]
		switch {
		case v.Do == plan.RemoveOwnerRefs && s == plan.Solid:
			j.cause, j.owner = plan.OwnedByAnother, g.Ref(e.Owner)
			return
		case v.Do == plan.Delete && s == plan.Waiting:
			j.cause, j.owner = plan.OwnerWaiting, g.Ref(e.Owner)
			return
		case v.Do == plan.Delete && j.cause == "":
			j.cause, j.owner = plan.OwnersGone, g.Ref(e.Owner)
		}
	}
}

// observed waits until the controller of an owner has taken notice that it is being deleted, for as
// long as the options allow: one that has not would adopt again what is about to be orphaned
// (RO-021, which was in the original proposal of orphaning). A deletion counts as a generation
// (API-017), and status.observedGeneration is how far a controller has come. It says nothing of an
// owner without generations, or of one whose controller writes no status.
func (p *pass) observed(ctx context.Context, id graph.ID) {
	ref := p.graph.Ref(id)
	if p.loop.opts.Observe <= 0 || p.graph.Generation(id) == 0 || p.loop.waitedFor(ref.UID) {
		return
	}
	t, _ := p.graph.Type(id)
	ctx, cancel := context.WithTimeout(ctx, p.loop.opts.Observe)
	defer cancel()
	behind := func() bool {
		o, d, err := p.client.GetMetaAndDetails(ctx, t, ref.Namespace, ref.Name)
		return err == nil && o.UID == ref.UID && d.Behind
	}
	if !behind() {
		return
	}
	_ = p.client.Watch(ctx, []cluster.ResumePoint{{Type: t, Namespace: ref.Namespace}}, func(c cluster.Change) {
		if (c.Object == nil || c.Object.UID == ref.UID) && !behind() {
			cancel()
		}
	})
	for ctx.Err() == nil && behind() { // it can neither be watched nor listed
		_ = sleep(ctx, time.Second)
	}
}

// waitedFor reports whether an owner's controller was waited for before.
func (l *Loop) waitedFor(uid string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	waited := l.observed[uid]
	l.observed[uid] = true
	return waited
}

// ObserveTime is how long is long enough for a controller that is running.
const ObserveTime = 15 * time.Second

// held is what a watch asks of a store about what events have shown before.
type held interface {
	// Lookup returns an object by its uid; see cluster.Store.
	Lookup(uid, kind string) (graph.Type, graph.Object, bool)
	// Referenced reports whether an object names an owner with the uid.
	Referenced(uid string) bool
}

// touched returns the uids of the objects that an event of an object gives work to (GC-023 to
// GC-027): the object itself, and owners of it that wait for their dependents. Most events give
// none: a status changes, or an object is created whose owners are all there.
func touched(c cluster.Change, known held) []string {
	o, before := c.Object, c.Before
	var due []string
	if !c.Gone && !unlike(o, before) {
		return nil
	}
	switch {
	case c.Gone:
		if known.Referenced(o.UID) || absentOwner(o, known) { // a pass may have been refused for its owner loss
			due = append(due, o.UID)
		}
	case before != nil, waiting(o) != "", known.Referenced(o.UID), !owned(c.ResumePoint.Type, o, known):
		due = append(due, o.UID)
	}
	owners := o.Owners
	if before != nil {
		owners = slices.Concat(owners, before.Owners)
	}
	for _, r := range owners {
		if _, owner, there := known.Lookup(r.UID, r.Kind); there && owner.DeletionTimestamp != 0 &&
			!slices.Contains(due, r.UID) {
			due = append(due, r.UID)
		}
	}
	return due
}

// unlike reports whether an object is not what the collector took it for. Before is nil for one
// that is new.
func unlike(o, before *graph.Object) bool {
	return before == nil || waiting(o) != waiting(before) || o.Selected != before.Selected ||
		!slices.Equal(o.Owners, before.Owners)
}

// waiting returns the finalizer of the collector because of which an object that is being deleted
// waits for its dependents; empty for all others.
func waiting(o *graph.Object) string {
	if o.DeletionTimestamp == 0 {
		return ""
	}
	for _, f := range []string{plan.OrphanFinalizer, plan.ForegroundFinalizer} {
		if slices.Contains(o.Finalizers, f) {
			return f
		}
	}
	return ""
}

// absentOwner reports whether an object has an owner that is not held.
func absentOwner(o *graph.Object, known held) bool {
	return slices.ContainsFunc(o.Owners, func(r graph.OwnerReference) bool {
		_, _, there := known.Lookup(r.UID, r.Kind)
		return !there
	})
}

// owned reports whether all owners of an object are there, under the names that the references
// have, and are not being deleted. It is so of an object without references.
func owned(t graph.Type, o *graph.Object, known held) bool {
	for _, r := range o.Owners {
		of, owner, there := known.Lookup(r.UID, r.Kind)
		switch {
		case !there, owner.DeletionTimestamp != 0, owner.Name != r.Name, of.Kind != r.Kind,
			of.Group != (graph.Ref{APIVersion: r.APIVersion}).Group(),
			of.Namespaced && (!t.Namespaced || owner.Namespace != o.Namespace):
			return false
		}
	}
	return true
}
