package collect

import (
	"context"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

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
		return err == nil && o.UID == ref.UID && d.HasObserved && d.ObservedGeneration < o.Generation
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

// waitedFor says whether an owner's controller was waited for before.
func (l *Loop) waitedFor(uid string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	waited := l.observed[uid]
	l.observed[uid] = true
	return waited
}

// ObserveTime is how long is long enough for a controller that is running.
const ObserveTime = 15 * time.Second
