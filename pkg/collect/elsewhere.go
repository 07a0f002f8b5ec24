package collect

import (
	"context"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// elsewhere finds owners of a type that a listing of one namespace does not show, in other namespaces or in none: the collector takes them for absent, and they
// are alive. Each type is listed once, and only if an owner of it is absent.
type elsewhere struct {
	mu    sync.Mutex
	types map[graph.Type]func() (map[string]plan.OwnerState, error)
}

// states returns by uid what all objects of a type are to a dependent that does not find them.
func (s *elsewhere) states(ctx context.Context, p *pass, t graph.Type) (map[string]plan.OwnerState, error) {
	s.mu.Lock()
	list, asked := s.types[t]
	if !asked {
		list = sync.OnceValues(func() (map[string]plan.OwnerState, error) {
			states := map[string]plan.OwnerState{}
			_, err := p.client.ForEachMeta(ctx, t, "", func(o *graph.Object) {
				states[o.UID] = plan.Mismatch
				if orphaning(o) {
					states[o.UID] = plan.Orphaning
				}
			})
			return states, err
		})
		if s.types == nil {
			s.types = map[graph.Type]func() (map[string]plan.OwnerState, error){}
		}
		s.types[t] = list
	}
	s.mu.Unlock()
	return list()
}

// outside returns the state of an owner that is absent where its reference says, in a listing of one namespace. It is a mismatch if it is alive in another
// namespace, unless it waits there to orphan its dependents. If the other namespaces cannot be listed, it is what the collector takes it for; with
// Overrides.KeepMismatched it is unknown.
func (p *pass) outside(ctx context.Context, e graph.Edge, t graph.Type, state plan.OwnerState) plan.OwnerState {
	if p.loop.opts.List.Namespace == "" || p.graph.Observed(e.Owner) {
		return state
	}
	states, err := p.elsewhere.states(ctx, p, t)
	elsewhere, alive := states[p.graph.Ref(e.Owner).UID]
	switch {
	case err == nil && alive:
		return elsewhere
	case err != nil && p.loop.opts.Overrides.KeepMismatched:
		return plan.Unknown
	}
	return state
}
