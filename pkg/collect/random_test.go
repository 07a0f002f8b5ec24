package collect

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/randomcluster"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var (
	randomGraphs = flag.Int("random-graphs", 200, "number of random graphs to run the loop on")
	randomSeed   = flag.Uint64("random-seed", 1, "seed of the first random graph")
)

// within allows the objects of one random cluster.
func within(namespace string) func(*graph.Graph, graph.ID) bool {
	return func(g *graph.Graph, id graph.ID) bool {
		r := g.Ref(id)
		return r.Namespace == namespace || r.Namespace == "" && strings.HasPrefix(r.Name, namespace)
	}
}

// TestP10LoopDoesWhatThePlanSays makes random clusters without a collector, plans the deletion of some of their objects under the rules of the loop, deletes
// them, runs the loop, and compares what is left with the plan, object by object and reference by reference.
func TestP10LoopDoesWhatThePlanSays(t *testing.T) {
	c := testcluster.Shared(t)
	world := randomcluster.New(t, c)
	client, err := cluster.New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	deleted, timing := 0, 0
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(4)
	for i := range *randomGraphs {
		group.Go(func() error {
			seed := *randomSeed + uint64(i)
			p, diff, err := compareWithPlan(ctx, world, client, seed)
			if err != nil {
				return fmt.Errorf("seed %d: %w", seed, err)
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case diff == "":
				deleted += len(p.Deleted)
			case p.DependsOnTiming:
				timing++
			default:
				t.Errorf("seed %d, %s: (-plan +loop)\n%s\nplan:\n%s", seed, p.Policy, diff, actions(p))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d objects deleted as planned; %d graphs depend on timing", deleted, timing)
	if timing > 1+*randomGraphs/20 {
		t.Errorf("%d of %d graphs depend on timing, which is too many to call it that", timing, *randomGraphs)
	}
	if deleted < *randomGraphs {
		t.Errorf("only %d objects were deleted, so little was compared", deleted)
	}
}

// compareWithPlan returns the plan for one random cluster and how what the loop leaves differs from it.
func compareWithPlan(ctx context.Context, world *randomcluster.World, client *cluster.Client, seed uint64) (*plan.Plan, string, error) {
	namespace := fmt.Sprintf("g%d-x", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	if err := world.Create(ctx, namespace, rng); err != nil {
		return nil, "", err
	}
	defer world.Clear(namespace)
	run := func(waiting ...string) error {
		var failed []string
		_, err := New(client, Options{May: within(namespace), Waiting: waiting, Tell: func(e Event) {
			if e.Err != nil {
				failed = append(failed, fmt.Sprintf("%s %s: %v", e.Action.Verb, e.Action.Object.Name, e.Err))
			}
		}}).Run(ctx)
		if len(failed) > 0 {
			return fmt.Errorf("%s", strings.Join(failed, "\n"))
		}
		return err
	}
	if err := run(); err != nil {
		return nil, "", err
	}
	g, err := world.List(ctx, namespace)
	if err != nil {
		return nil, "", err
	}
	policy := []plan.Policy{plan.Background, plan.Foreground, plan.Orphan}[rng.IntN(3)]
	roots := randomcluster.Roots(g, namespace, rng.IntN)
	p := plan.New(g, roots, policy, plan.Options{Rules: plan.Loop})
	for _, a := range p.Actions {
		if a.By == plan.ByClient {
			if err := world.Delete(ctx, g.Ref(a.Object), string(a.Policy)); err != nil {
				return nil, "", err
			}
		}
	}
	cascade := map[types.UID]bool{} // whose finalizers come off
	for _, id := range randomcluster.Seen(g) {
		if p.End().Gone(id) || p.End().Deleting(id) {
			cascade[types.UID(g.Ref(id).UID)] = g.State(id) != graph.Deleting || slices.Contains(p.Deleted, id)
		}
	}
	var now []string
	for range 12 { // as often as finalizers come off one below the other
		if err := run(); err != nil {
			return nil, "", err
		}
		if err := world.Release(ctx, namespace, cascade); err != nil {
			return nil, "", err
		}
		left, err := world.List(ctx, namespace)
		if err != nil {
			return nil, "", err
		}
		last := now
		if now = randomcluster.Snapshot(left, namespace); slices.Equal(last, now) {
			break
		}
	}
	return p, cmp.Diff(describe(p, namespace), now), nil
}

// describe describes the graph of a plan as the plan leaves it.
func describe(p *plan.Plan, namespace string) []string {
	end := p.End()
	return randomcluster.Describe(p.Graph, namespace, func(id graph.ID) randomcluster.Object {
		item, refs := end.Item(id)
		o := randomcluster.Object{Gone: end.Gone(id), Deleting: item.Deleting, Orphan: item.Orphan, Foreground: item.Foreground, Held: end.Held(id), Refs: refs}
		for _, e := range refs {
			o.Blocks = append(o.Blocks, end.Blocks(e))
		}
		return o
	})
}

func actions(p *plan.Plan) string {
	var b strings.Builder
	for _, a := range p.Actions {
		fmt.Fprintf(&b, "%d %s %s %s %s %v\n", a.Wave, a.Verb, p.Graph.Ref(a.Object).Name, a.Policy, a.Because.Code, a.Edges)
	}
	return b.String()
}
