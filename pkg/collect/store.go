package collect

import (
	"context"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// DefaultRediscover is how long Watch goes by what discovery has answered. The collector asks again
// as often.
const DefaultRediscover = 30 * time.Second

// served is what discovery has answered last.
type served struct {
	client  *cluster.Client
	catalog *cluster.Catalog
	at      time.Time
}

// fromStore begins a pass with what is held of the cluster, or around what is due.
func (l *Loop) fromStore(ctx context.Context) (*pass, error) {
	around, part := l.due.take()
	if err := l.discover(ctx, part); err != nil {
		return nil, &listError{err}
	}
	return l.held(ctx, around)
}

// held begins a pass with what is held around some objects, or with all of it if around is nil.
// What has ended the store ends the loop.
func (l *Loop) held(ctx context.Context, around []string) (*pass, error) {
	listing, err := selection.ListStore(ctx, l.served.client, l.served.catalog, l.store, around)
	select {
	case err := <-l.store.Ended():
		return nil, err
	default:
	}
	if err != nil {
		return nil, &listError{err}
	}
	p := newPass(l, l.served.client, listing)
	if listing.Part {
		p.part, p.result.part = newPart(p.graph, around), true
	}
	return p, nil
}

// discover asks what the server serves, before a pass over a part not each time: a type that is
// defined or served anew is an event.
func (l *Loop) discover(ctx context.Context, part bool) error {
	every := l.opts.Rediscover
	if every <= 0 {
		every = DefaultRediscover
	}
	if part && l.served.client != nil && time.Since(l.served.at) < every {
		return nil
	}
	client := l.client.WithFreshDiscovery()
	catalog, err := client.Discover(ctx)
	if err != nil {
		return err
	}
	l.served = served{client, catalog, time.Now()}
	return nil
}

// sees says whether the listing began after an owner was seen to wait for its dependents; if not,
// the next one will. What a store holds shows the owner, and before it is released its dependents
// are listed (recheck).
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
