package collect

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// orphan removes the references to an owner from its dependents and then, when a listing that began
// later shows none, its finalizer (GC-067, RO-020).
func (p *pass) orphan(ctx context.Context, id graph.ID) {
	sees := p.sees(id)
	p.mu.Lock()
	dependents := map[graph.ID][]graph.Edge{}
	var order []graph.ID
	kept := false
	for e := range p.projection.Dependents(id) {
		if !p.allows(e.Dependent) {
			kept = true // and its owner with it (P-19)
			continue
		}
		if len(dependents[e.Dependent]) == 0 {
			order = append(order, e.Dependent)
		}
		dependents[e.Dependent] = append(dependents[e.Dependent], e)
	}
	patched := p.orphaned[id]
	p.orphaned[id] = patched || len(order) > 0
	p.mu.Unlock()
	if len(order) == 0 {
		if !sees || patched {
			p.again()
			return
		}
		if !kept {
			p.change(func(*plan.Projection) { p.finishing = append(p.finishing, id) })
		}
		return
	}
	p.observed(ctx, id)
	if !p.stillWaits(ctx, id, plan.OrphanFinalizer) {
		return
	}
	var failed atomic.Bool
	p.share(len(order), func(i int) {
		dependent := order[i]
		refs := slices.Concat(dependents[dependent], p.lost(ctx, dependent))
		switch {
		case p.removeOwnerRefs(ctx, dependent, refs, plan.OwnerOrphans, p.graph.Ref(id)):
			p.change(func(o *plan.Projection) { o.Enqueue(dependent) }) // nothing was decided about it before
		case !p.gone(dependent):
			failed.Store(true)
		}
	})
	if !failed.Load() {
		p.again() // whose listing began after the last patch
	}
}

// lost returns the references that are removed from a dependent together with that to an owner which
// orphans it (plan.Projection.Lost).
func (p *pass) lost(ctx context.Context, id graph.ID) []graph.Edge {
	if !p.loop.actsOn(p.graph.Ref(id).UID) {
		return nil
	}
	if _, _, _, ok := p.assess(ctx, id); !ok {
		return nil
	}
	p.mu.Lock()
	lost := p.projection.Lost(id)
	p.mu.Unlock()
	return slices.DeleteFunc(lost, func(e graph.Edge) bool {
		return !p.agreedTo(plan.VerbOrphan, id, p.graph.Ref(e.Owner).UID)
	})
}

// complete removes one of the collector's finalizers from an owner that has nothing left to wait
// for. A dependent that the listing could not show would be deleted because of it, or not waited
// for. So it needs a listing without such a gap, and one that began after the owner was seen to
// wait (RO-012, RO-020, RO-022).
func (p *pass) complete(ctx context.Context, id graph.ID, finalizer string, because plan.ReasonCode) {
	ref := p.graph.Ref(id)
	if !p.sees(id) {
		p.again()
		return
	}
	if ref.Namespace == "" && p.loop.opts.List.Namespace != "" || len(p.graph.Hiding(p.result.Gaps, ref)) > 0 {
		return
	}
	if !p.recheck.shows(ctx, p, id) {
		p.again()
		return
	}
	t, _ := p.graph.Type(id)
	a := &plan.Write{Verb: plan.VerbRemoveFinalizer, Finalizers: []string{finalizer}, Because: because}
	taken := p.write(ctx, a, id, func() error {
		now, err := p.get(ctx, t, ref.Namespace, ref.Name)
		if err != nil {
			return err
		}
		at := slices.Index(now.Finalizers, finalizer)
		switch {
		case now.UID != ref.UID || now.DeletionTimestamp == 0 || at < 0:
			return errMoved
		case now.ResourceVersion != p.version(id): // which an archive may not have
			return apierrors.NewConflict(t.GroupResource(), ref.Name, errMoved)
		}
		path := fmt.Sprintf("/metadata/finalizers/%d", at)
		steps := append(cluster.Unchanged(ref.UID, now.ResourceVersion),
			cluster.PatchStep{Op: "test", Path: path, Value: finalizer}, cluster.PatchStep{Op: "remove", Path: path})
		left, err := p.client.Patch(ctx, t, ref.Namespace, ref.Name, steps, cluster.PatchOptions{})
		if err != nil {
			return err
		}
		if slices.Contains(left.Finalizers, finalizer) {
			return p.client.PutBackAtOnce(ctx, t, "finalizer "+finalizer)
		}
		a.RemainingFinalizers = left.Finalizers
		return nil
	})
	if !taken {
		return
	}
	if finalizer == plan.OrphanFinalizer {
		p.loop.hasOrphaned(ref.UID)
	}
	p.change(func(o *plan.Projection) { o.Released(id, finalizer) })
	p.confirm(ctx, id, len(a.RemainingFinalizers) > 0)
}

// stillWaits reads an owner live: somebody may have deleted it again with another policy (API-004).
func (p *pass) stillWaits(ctx context.Context, id graph.ID, finalizer string) bool {
	now := p.look(ctx, id)
	if now != nil && now.DeletionTimestamp != 0 && slices.Contains(now.Finalizers, finalizer) {
		return true
	}
	if now != nil {
		p.again()
	}
	return false
}

// breakDeadlock unblocks a reference of a cycle whose members all wait for each other, if the terms
// say so, and reports whether it did. Members that were seen to wait only now may not be what the
// listing shows of them; the next pass will tell.
func (p *pass) breakDeadlock(ctx context.Context) bool {
	if !p.loop.opts.Overrides.BreakDeadlocks {
		return false
	}
	p.mu.Lock()
	rings := p.projection.Deadlocks()
	p.mu.Unlock()
	for _, ring := range rings {
		if !p.allows(ring[0].Dependent) || !p.stillDeadlocked(ctx, ring) {
			continue
		}
		e := ring[0]
		if p.unblock(ctx, e.Dependent, []graph.Edge{e}, plan.Deadlock, p.graph.Ref(e.Owner)) {
			return true
		}
	}
	return false
}

func (p *pass) stillDeadlocked(ctx context.Context, ring []graph.Edge) bool {
	sees := true
	for _, e := range ring {
		sees = p.loop.sees(p.graph.Ref(e.Dependent).UID) && sees
	}
	if !sees {
		p.again()
		return false
	}
	for _, e := range ring {
		if !p.stillWaits(ctx, e.Dependent, plan.ForegroundFinalizer) {
			return false
		}
	}
	return true
}

// elsewhere finds owners of a type that a listing of one namespace does not show, in other
// namespaces or in none: the collector takes them for absent, and they are alive. Each type
// is listed once, and only if an owner of it is absent.
type elsewhere struct {
	types cluster.Asked[graph.Type, map[string]strayOwner]
}

// strayOwner is an object that some reference names by its uid, and what it is to a dependent that
// does not find it.
type strayOwner struct {
	state           plan.OwnerState
	namespace, name string
}

// owners returns by uid the objects of a type that the listing has references to.
func (s *elsewhere) owners(ctx context.Context, p *pass, t graph.Type) (map[string]strayOwner, error) {
	return s.types.Once(ctx, t, func() (map[string]strayOwner, error) {
		owners := map[string]strayOwner{}
		_, err := p.client.ForEachMeta(ctx, t, "", func(o *graph.Object) {
			if _, named := p.graph.Lookup(o.UID); !named {
				return
			}
			owner := strayOwner{plan.Mismatch, o.Namespace, o.Name}
			if orphaning(o) {
				owner.state = plan.Orphaning
			}
			owners[o.UID] = owner
		})
		return owners, err
	})
}

// outside returns the state of an owner that is absent where its reference says, in a listing of
// one namespace. It is a mismatch if it is alive in another namespace, unless it waits there to
// orphan its dependents. If the other namespaces cannot be listed, it is what the collector takes
// it for; with Overrides.KeepMismatched it is unknown.
func (p *pass) outside(ctx context.Context, e graph.Edge, t graph.Type, state plan.OwnerState) plan.OwnerState {
	if p.loop.opts.List.Namespace == "" || p.graph.Observed(e.Owner) {
		return state
	}
	uid := p.graph.Ref(e.Owner).UID
	owners, err := p.elsewhere.owners(ctx, p, t)
	owner, alive := owners[uid]
	if !alive && p.anyType {
		t, owner, alive = p.ofAnotherType(ctx, t, uid)
	}
	switch {
	case alive:
		p.saw(e, t.Ref(owner.namespace, owner.name, uid))
		return owner.state
	case err != nil && p.loop.opts.Overrides.KeepMismatched:
		return plan.Unknown
	}
	return state
}

// ofAnotherType finds an owner whose reference has the wrong kind, in the namespaces that were not
// listed. Of types that cannot be listed it finds none: for the collector, an owner is absent by
// the kind that the reference has.
func (p *pass) ofAnotherType(ctx context.Context, t graph.Type, uid string) (graph.Type, strayOwner, bool) {
	for _, r := range p.catalog.Resources {
		if !r.Namespaced || r.Type == t {
			continue
		}
		if owners, err := p.elsewhere.owners(ctx, p, r.Type); err == nil {
			if owner, alive := owners[uid]; alive {
				return r.Type, owner, true
			}
		}
	}
	return t, strayOwner{}, false
}
