package collect

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// fresh is for how long a live owner counts as read just now. The collector reads it for each
// dependent; the loop decides about the dependents of one owner within a few of these.
const fresh = 500 * time.Millisecond

// believed is for how long it counts as proven that an owner is gone. A uid is never used again,
// but an etcd that is restored from a backup brings the object back with its uid, and a watch that
// goes on from a later resourceVersion does not show it.
const believed = time.Minute

// crdType is the type of CRDs.
var crdType = graph.Type{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	Kind: "CustomResourceDefinition"}

// ownerKey is what a reference says of its owner, in the namespace that it is resolved in.
type ownerKey struct{ apiVersion, kind, namespace, name, uid string }

// proofs are what live reads have shown of owners. That an owner is gone stays true, since a uid
// is never used again (RO-003, RO-007), and is yet believed for a while only; that it is there
// does not.
type proofs struct {
	crds []CRD

	mu      sync.Mutex
	gone    map[string]time.Time // by uid: removed before our eyes, and when
	byOwner map[ownerKey]*proof
}

type proof struct {
	mu    sync.Mutex
	state plan.OwnerState
	// found is the uid of what has the name, if the owner was replaced.
	found string
	known bool
	read  time.Time
}

func newProofs(crds []CRD) *proofs {
	return &proofs{crds: crds, gone: map[string]time.Time{}, byOwner: map[ownerKey]*proof{}}
}

// newPass forgets what may not be true any more.
func (ps *proofs) newPass() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for c, p := range ps.byOwner {
		if p.state != plan.Absent && p.state != plan.Replaced {
			delete(ps.byOwner, c)
		}
	}
}

func (ps *proofs) removed(uid string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.gone[uid] = time.Now()
}

// wasRemoved returns whether an object was ever removed before our eyes, and isGone whether that
// counts as a proof now.
func (ps *proofs) wasRemoved(uid string) bool {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	_, removed := ps.gone[uid]
	return removed
}

func (ps *proofs) isGone(uid string) bool {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return time.Since(ps.gone[uid]) < believed
}

func (ps *proofs) of(c ownerKey) *proof {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p, ok := ps.byOwner[c]
	if !ok {
		p = &proof{}
		ps.byOwner[c] = p
	}
	return p
}

// current reports whether the proof still holds. The lock is held.
func (p *proof) current() bool {
	age := time.Since(p.read)
	gone := p.state == plan.Absent || p.state == plan.Replaced
	return p.known && (p.state == plan.Unknown || gone && age < believed || age < fresh)
}

// prove says what a live read shows of the owner that a reference names (RO-004). Anything but an
// answer that is about the named object is Unknown. One read serves all dependents that ask at the
// same time.
func (p *pass) prove(ctx context.Context, e graph.Edge) plan.OwnerState {
	owner, dependent := p.graph.Ref(e.Owner), p.graph.Ref(e.Dependent)
	t, known := p.catalog.Kind(e.APIVersion, e.Kind)
	if !known {
		if d, saw := p.loop.deletionOf(p.ownerKey(e)); saw && (d.recent() || d.crd != "" && p.absentCRD(ctx, d.crd)) {
			return plan.Absent
		}
		return p.proveByCRD(ctx, e.APIVersion, e.Kind, owner.UID)
	}
	if p.loop.proofs.isGone(owner.UID) && (dependent.Namespace != "" || !t.Namespaced) {
		return plan.Absent
	}
	c := ownerKey{e.APIVersion, e.Kind, "", e.Name, owner.UID}
	if t.Namespaced {
		if c.namespace = dependent.Namespace; c.namespace == "" {
			return plan.BadScope
		}
	}
	proof := p.loop.proofs.of(c)
	proof.mu.Lock()
	defer proof.mu.Unlock()
	if !proof.current() {
		proof.read, proof.known = time.Now(), true
		proof.state, proof.found = p.read(ctx, t, c)
	}
	state := proof.state
	if state != plan.Absent && state != plan.Replaced {
		return state
	}
	if p.aliveElsewhere(e) {
		return p.misnamed(ctx, e)
	}
	if state == plan.Replaced {
		p.saw(e, t.Ref(c.namespace, c.name, proof.found))
	}
	return p.outside(ctx, e, t, state)
}

// saw records what a live read has shown in place of the owner that a reference names.
func (p *pass) saw(e graph.Edge, instead graph.Ref) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.instead[e.Index] = instead
}

// read is the quorum GET of what a reference names. With Replaced comes the uid of what has the
// name.
func (p *pass) read(ctx context.Context, t graph.Type, c ownerKey) (plan.OwnerState, string) {
	now, err := p.get(ctx, t, c.namespace, c.name)
	switch {
	case cluster.IsAbsent(err, t, c.name):
		return plan.Absent, ""
	case apierrors.IsNotFound(err) && p.loop.sawDeleted(c): // whose type has just gone
		p.unread.note(ctx, coordinates{t, c.namespace, c.name}, nil)
		return plan.Absent, ""
	case apierrors.IsUnauthorized(err):
		p.fail(err) // as it would meet every request
		return plan.Unknown, ""
	case err != nil:
		return plan.Unknown, ""
	case now.UID != c.uid:
		return plan.Replaced, now.UID
	}
	return plan.LiveOwner(now, c.uid), ""
}

// orphaning reports whether an object waits for its dependents to be orphaned.
func orphaning(o *graph.Object) bool {
	return o.DeletionTimestamp != 0 && slices.Contains(o.Finalizers, plan.OrphanFinalizer)
}

// misnamed returns the state of an owner that was listed under other coordinates than the
// reference's. The collector takes it for absent (GC-047), unless it orphans the dependent before.
// That is read live too: it may have been deleted since it was listed.
func (p *pass) misnamed(ctx context.Context, e graph.Edge) plan.OwnerState {
	owner := p.object(e.Owner)
	now, err := p.get(ctx, owner.Type, owner.Ref.Namespace, owner.Ref.Name)
	switch {
	case err == nil && now.UID == owner.Ref.UID && orphaning(now):
		return plan.Orphaning
	case err == nil, p.absent(err, e.Owner):
		return plan.Mismatch
	}
	return plan.Unknown
}

// aliveElsewhere reports whether the uid was listed under other coordinates than the reference's.
func (p *pass) aliveElsewhere(e graph.Edge) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return e.Problem&(graph.WrongName|graph.WrongKind|graph.WrongNamespace) != 0 && !p.projection.Gone(e.Owner)
}

// proveByCRD knows that an instance is gone if its CRD is, which it had to outlive (RO-024).
func (p *pass) proveByCRD(ctx context.Context, apiVersion, kind, uid string) plan.OwnerState {
	for _, d := range p.loop.opts.CRDs {
		if !d.Instances[uid] || d.Type.Kind != kind || d.Type.Group != (graph.Ref{APIVersion: apiVersion}).Group() {
			continue
		}
		if p.absentCRD(ctx, d.Object.Name) {
			p.loop.proofs.removed(uid)
			return plan.Absent
		}
	}
	return plan.Unknown
}

func (p *pass) absentCRD(ctx context.Context, name string) bool {
	_, err := p.get(ctx, crdType, "", name)
	return cluster.IsAbsent(err, crdType, name)
}

// mostForgotten is how many more things than after the last time are remembered before a pass over
// a part forgets again.
const mostForgotten = 1000

// forgetGone drops what is remembered of objects that no listing will show again, so that a loop
// that goes on for months needs no more than its cluster does: objects that the listing neither
// shows nor refers to, and that are not hidden in a gap of it or are known to be gone.
func (l *Loop) forgetGone(p *pass) {
	known := func(uid string) bool {
		_, known := p.graph.Lookup(uid)
		return known
	}
	referenced := known
	if p.part != nil {
		referenced = l.store.Referenced
		known = func(uid string) bool {
			if referenced(uid) {
				return true
			}
			_, _, held := l.store.Lookup(uid, "")
			return held
		}
	}
	l.forgetWitnessed(referenced)
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.part != nil && l.remembered() < l.left+mostForgotten {
		return // to look each of them up costs more than the pass
	}
	keep := func(uid string) bool { return known(uid) || len(p.result.Gaps) > 0 && !l.proofs.wasRemoved(uid) }
	for _, m := range []map[string]bool{l.waiting, l.next, l.observed, l.declined} {
		maps.DeleteFunc(m, func(uid string, _ bool) bool { return !keep(uid) })
	}
	maps.DeleteFunc(l.written, func(e effect, _ int) bool { return e.object != "" && !keep(e.object) })
	maps.DeleteFunc(l.failed, func(uid string, _ int) bool { return !keep(uid) })
	maps.DeleteFunc(l.warned, func(pair [2]string, _ bool) bool { return !keep(pair[0]) || !keep(pair[1]) })
	maps.DeleteFunc(l.own, func(uid, _ string) bool { return !keep(uid) })
	l.consent.Keep(keep)
	l.proofs.keep(known)
	l.left = l.remembered()
}

// remembered is how many things are remembered of objects, but for the deletions that were seen.
// The lock is held.
func (l *Loop) remembered() int {
	return l.proofs.len() + len(l.waiting) + len(l.next) + len(l.failed) + len(l.orphaned) + len(l.warned) +
		len(l.observed) + len(l.declined) +
		len(l.written) + len(l.own) + l.consent.Len()
}

func (ps *proofs) len() int {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return len(ps.byOwner) + len(ps.gone)
}

// keep drops proofs about owners for which known, called with a uid, is false. Should a reference
// to one come up again, it is proven again.
func (ps *proofs) keep(known func(uid string) bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	maps.DeleteFunc(ps.gone, func(uid string, _ time.Time) bool { return !known(uid) })
	maps.DeleteFunc(ps.byOwner, func(c ownerKey, p *proof) bool {
		return !known(c.uid) && (p.state == plan.Absent || p.state == plan.Replaced)
	})
}

const (
	// excusedFor is for how long at most the deletion of an owner that was seen explains why a
	// dependent has lost it. The events of one type may be behind those of another.
	excusedFor = time.Minute
	// mostWitnessed is how many deletions of objects without dependents are remembered between two
	// passes.
	mostWitnessed = 10_000
)

// deletion is the DELETED event of an object. It proves that the object is gone, since a uid is
// never used again, for as long as that is believed; what a list leaves out proves nothing.
// Upstream's absentOwnerCache remembers the same without a bound.
type deletion struct {
	group, kind, namespace, name string
	// crd is the name of the CRD that defined its type then; empty if none was held. As long as
	// that is absent, the object is: an etcd that is restored brings back both.
	crd string
	// missing says that there was no event: a list does not show the object any more, and it was
	// held before.
	missing bool
	// pass is the number of the last pass that had begun.
	pass int
	at   time.Time
}

// witness records that an object was seen to be deleted: that its dependents have lost an owner is
// then no surprise, and it is proven without a read when its type is not served any more.
func (l *Loop) witness(c cluster.Change) {
	t, o := c.ResumePoint.Type, c.Object
	l.mu.Lock()
	l.witnessed[o.UID] = deletion{group: t.Group, kind: t.Kind, namespace: o.Namespace, name: o.Name, crd: c.Definition,
		pass: l.passes, at: time.Now()}
	many := len(l.witnessed) > mostWitnessed
	l.mu.Unlock()
	if many {
		l.forgetWitnessed(l.store.Referenced)
	}
}

// missing records the objects that a list does not show any more. They were alive while the loop
// watched, so that their dependents are not those of a backup that is restored; it proves nothing
// else.
func (l *Loop) missing(c cluster.Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, uid := range c.Missing {
		if _, seen := l.witnessed[uid]; !seen {
			l.witnessed[uid] = deletion{missing: true, pass: l.passes, at: time.Now()}
		}
	}
}

// forgetWitnessed drops the deletions of objects that have no dependents any more. A deletion that
// was seen excuses what is left of its dependents, and not those that are restored later.
func (l *Loop) forgetWitnessed(referenced func(uid string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.witnessed, func(uid string, d deletion) bool {
		return (d.pass+1 < l.passes || time.Since(d.at) > excusedFor || len(l.witnessed) > mostWitnessed) && !referenced(uid)
	})
}

// recent returns whether it is believed without another proof.
func (d deletion) recent() bool { return time.Since(d.at) < believed }

// sawDeleted returns whether the deletion of the owner that a reference names was seen a moment
// ago.
func (l *Loop) sawDeleted(owner ownerKey) bool {
	d, saw := l.deletionOf(owner)
	return saw && d.recent()
}

// deletionOf returns the deletion of the owner that a reference names, if that was seen. All that
// the reference says has to be what was deleted: another API can show the same object under the
// same uid, and show it as deleted when it is only hidden (GC-032).
func (l *Loop) deletionOf(owner ownerKey) (deletion, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d, seen := l.witnessed[owner.uid]
	return d, seen && !d.missing && d.name == owner.name && d.kind == owner.kind &&
		d.group == (graph.Ref{APIVersion: owner.apiVersion}).Group() &&
		(d.namespace == "" || d.namespace == owner.namespace)
}

// ownerKey is what a reference says of its owner, resolved in the namespace of the dependent.
func (p *pass) ownerKey(e graph.Edge) ownerKey {
	return ownerKey{e.APIVersion, e.Kind, p.graph.Namespace(e.Dependent), e.Name, p.graph.Ref(e.Owner).UID}
}
