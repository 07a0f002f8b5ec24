package collect

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

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
