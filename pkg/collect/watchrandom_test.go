package collect

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/randomcluster"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWatchMissesNothingOfWhatArrivesMeanwhile makes random clusters while a loop watches, and
// deletes some of their objects and removes finalizers while it collects. It comes to where a run
// that begins with a listing has nothing to do, and does nothing.
func TestWatchMissesNothingOfWhatArrivesMeanwhile(t *testing.T) {
	// It takes more than 10 s beside others: each of the clusters is made and collected, and listed
	// again.
	t.Parallel()
	c := testcluster.Shared(t)
	world := randomcluster.New(t, c)
	client := newClient(t, c)
	for _, b := range batches("w", *randomSeed, randomcluster.Graphs(), 100) {
		var written atomic.Int32
		watchOver(t, client, Options{Allow: b.within(), AllowOwnerLoss: true, Settle: 20 * time.Millisecond,
			OnEvent: func(plan.Event) { written.Add(1) }})
		ctx := t.Context()
		if err := b.create(ctx, world); err != nil {
			t.Fatal(err)
		}
		cascade, err := b.deleteSome(ctx, world)
		if err != nil {
			t.Fatal(err)
		}
		check := Options{Allow: b.within(), AllowOwnerLoss: true, Agree: AgreeToAll}
		var now map[string][]string
		changed := time.Now()
		testcluster.Eventually(t, "the loop comes to rest", func(ctx context.Context) (bool, error) {
			if err := world.ReleaseAll(ctx, cascade); err != nil {
				return false, err
			}
			last := now
			if now, err = b.snapshots(ctx, world); err != nil {
				return false, err
			}
			if !cmp.Equal(last, now) {
				changed = time.Now()
			}
			if time.Since(changed) <= 2*atRest {
				return false, nil
			}
			rest, err := New(client, check).Propose(ctx) // a busy machine makes long pauses between two writes
			return err == nil && len(rest.Plan.Actions) == 0, err
		})
		if written.Load() == 0 {
			t.Error("the loop has written nothing")
		}
		check.OnEvent = func(e plan.Event) {
			t.Errorf("the watch has not done this: %s %s in %s, %s (%v)", e.Action.Verb, e.Action.Object.Name,
				e.Action.Object.Namespace, e.Action.Because, e.Err)
		}
		result, err := New(client, check).Run(ctx)
		if err != nil || result.Writes > 0 {
			t.Errorf("%d writes were left, %v", result.Writes, err)
		}
		if err := world.Wipe(context.WithoutCancel(ctx), b.namespaces()); err != nil {
			t.Error(err)
		}
	}
}

// deleteSome deletes some objects of each random cluster, and returns the uids of what goes because
// of that.
func (b batch) deleteSome(ctx context.Context, world *randomcluster.World) (map[types.UID]bool, error) {
	graphs, err := world.ListAll(ctx)
	if err != nil {
		return nil, err
	}
	cascade := map[types.UID]bool{}
	for _, tr := range b {
		g, ok := graphs[tr.namespace]
		if !ok {
			continue // nothing is left
		}
		policy := []plan.Policy{plan.Background, plan.Foreground, plan.Orphan}[tr.rng.IntN(3)]
		p := plan.New(g, randomcluster.Roots(g, tr.namespace, tr.rng.IntN), policy, plan.Options{Rules: plan.Loop})
		for _, a := range p.Actions {
			ref := g.Ref(a.Object)
			if a.By != plan.ByClient {
				continue
			}
			if err := world.Delete(ctx, ref, string(a.Policy)); err != nil && !apierrors.IsNotFound(err) &&
				!apierrors.IsConflict(err) {
				return nil, err
			}
		}
		for _, id := range p.Deleted {
			cascade[types.UID(g.Ref(id).UID)] = true
		}
	}
	return cascade, nil
}
