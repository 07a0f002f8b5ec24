package collect

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// fromStore begins a pass with what is held of the cluster. What has ended the store ends the loop.
func (l *Loop) fromStore(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog) (*pass, error) {
	listing, err := selection.ListStore(ctx, client, catalog, l.store)
	select {
	case err := <-l.store.Ended():
		return nil, err
	default:
	}
	if err != nil {
		return nil, &listError{err}
	}
	return newPass(l, client, listing), nil
}

// sees says whether the listing began after an owner was seen to wait for its dependents; if not, the next one will. What a store holds shows the owner, and
// before it is released its dependents are listed (recheck).
func (p *pass) sees(id graph.ID) bool { return p.loop.store != nil || p.loop.sees(p.graph.Ref(id).UID) }

// expect has the next pass wait until the store has heard of a write.
func (p *pass) expect(id graph.ID) {
	if p.loop.store == nil {
		return
	}
	ref := p.graph.Ref(id)
	if t, ok := p.graph.Type(id); ok {
		p.loop.store.Expect(t, ref.Namespace, ref.UID, p.graph.ResourceVersion(id))
	}
}
