package act

import (
	"context"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// guardTime is how long a controller may take to notice that an object is being deleted whose
// dependents are orphaned.
const guardTime = 15 * time.Second

// guard tells of the owners, of those that stay for a while although their dependents were
// orphaned, whose controllers do not notice it: such a controller adopts the dependents again, and
// when the owner goes so do they (RO-021). That it has noticed shows in status.observedGeneration,
// since a deletion counts as a generation (API-017). Owners without generations cannot be judged.
func (r *run) guard(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-time.After(guardTime):
		r.unobserved(ctx)
	}
	return nil
}

func (r *run) unobserved(ctx context.Context) {
	cluster.Each(r.client, r.result.Done, func(_ int, d Done) {
		if d.Policy != plan.Orphan || d.Graph.Generation(d.Object) == 0 {
			return
		}
		ref := d.Graph.Ref(d.Object)
		if _, left := r.waiter.get(ref.UID); !left {
			return
		}
		t, _ := d.Graph.Type(d.Object)
		o, details, err := r.client.GetMetaAndDetails(ctx, t, ref.Namespace, ref.Name)
		if err == nil && o.UID == ref.UID && o.DeletionTimestamp != 0 && details.HasObserved &&
			details.ObservedGeneration < o.Generation {
			r.opts.OnEvent(Event{Type: Unobserved, Object: ref})
		} // one that cannot be read is not known to be behind
	})
}
