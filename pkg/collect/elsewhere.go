package collect

import (
	"context"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// elsewhere finds owners of a type in the namespaces that a listing of one namespace does not show: the collector takes them for absent, and they are
// alive all the same. Each type is listed once, and none for which no owner is gone.
type elsewhere struct {
	mu    sync.Mutex
	types map[graph.Type]func() (map[string]bool, error)
}

// uids returns those of all objects of a type.
func (s *elsewhere) uids(ctx context.Context, p *pass, t graph.Type) (map[string]bool, error) {
	s.mu.Lock()
	list, asked := s.types[t]
	if !asked {
		list = sync.OnceValues(func() (map[string]bool, error) {
			uids := map[string]bool{}
			_, err := p.client.Each(ctx, t, "", func(o *graph.Object) { uids[o.UID] = true })
			return uids, err
		})
		if s.types == nil {
			s.types = map[graph.Type]func() (map[string]bool, error){}
		}
		s.types[t] = list
	}
	s.mu.Unlock()
	return list()
}

// outside judges an owner that is gone where its reference says, in a listing of one namespace: it is a mismatch if it is alive in another. Where that may
// not be seen it is what the collector takes it for, unless mismatches are to be held.
func (p *pass) outside(ctx context.Context, e graph.Edge, t graph.Type, state plan.OwnerState) plan.OwnerState {
	if p.loop.opts.List.Namespace == "" || !t.Namespaced || p.graph.Seen(e.Owner) {
		return state
	}
	uids, err := p.elsewhere.uids(ctx, p, t)
	switch {
	case err == nil && uids[p.graph.Ref(e.Owner).UID]:
		return plan.Mismatch
	case err != nil && p.loop.opts.Terms.HoldMismatched:
		return plan.Unknown
	}
	return state
}
