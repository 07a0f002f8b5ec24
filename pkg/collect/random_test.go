package collect

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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

var randomSeed = flag.Uint64("random-seed", 1, "seed of the first random graph to run the loop on")

// trial is one random cluster.
type trial struct {
	seed      uint64
	namespace string
	rng       *rand.Rand
}

// batch is the random clusters of one run of the loop.
type batch []*trial

// batches are n random clusters, whose names begin with a prefix, so many at once: a run lists the
// whole control plane, however few of them there are.
func batches(prefix string, first uint64, n, atOnce int) []batch {
	var all batch
	for i := range n {
		seed := first + uint64(i)
		all = append(all, &trial{seed, fmt.Sprintf("%s%d-x", prefix, seed), rand.New(rand.NewPCG(seed, 0))})
	}
	return slices.Collect(slices.Chunk(all, atOnce))
}

func (b batch) namespaces() map[string]bool {
	set := map[string]bool{}
	for _, tr := range b {
		set[tr.namespace] = true
	}
	return set
}

// each calls f for each of the random clusters, several at a time.
func (b batch) each(ctx context.Context, f func(context.Context, *trial) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for _, tr := range b {
		group.Go(func() error {
			if err := f(ctx, tr); err != nil {
				return fmt.Errorf("seed %d: %w", tr.seed, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func (b batch) create(ctx context.Context, world *randomcluster.World) error {
	return b.each(ctx, func(ctx context.Context, tr *trial) error { return world.Create(ctx, tr.namespace, tr.rng) })
}

// within allows the objects of one random cluster.
func within(namespace string) func(*graph.Graph, graph.ID) bool {
	return func(g *graph.Graph, id graph.ID) bool { return clusterOf(g.Ref(id)) == namespace }
}

// clusterOf is the random cluster that an object is in.
func clusterOf(r graph.Ref) string {
	if r.Namespace != "" {
		return r.Namespace
	}
	name, _, _ := strings.Cut(r.Name, "-x")
	return name + "-x"
}

// within allows the objects of the random clusters.
func (b batch) within() func(*graph.Graph, graph.ID) bool {
	namespaces := b.namespaces()
	return func(g *graph.Graph, id graph.ID) bool { return namespaces[clusterOf(g.Ref(id))] }
}

// run runs the loop. A write that fails is an error, and so is one that the first pass did not
// plan. Waiting are the uids of what was deleted a moment ago.
func (b batch) run(ctx context.Context, client *cluster.Client, waiting ...string) error {
	var failed []string
	_, err := New(client, Options{Allow: b.within(), AllowOwnerLoss: true, Waiting: waiting, OnEvent: func(e plan.Event) {
		if e.Err != nil {
			failed = append(failed, fmt.Sprintf("%s %s in %s: %v", e.Action.Verb, e.Action.Object.Name,
				e.Action.Object.Namespace, e.Err))
		}
	}}).Run(ctx)
	if len(failed) > 0 {
		return fmt.Errorf("%s", strings.Join(failed, "\n"))
	}
	return err
}

// snapshots describes the random clusters as they are.
func (b batch) snapshots(ctx context.Context, world *randomcluster.World) (map[string][]string, error) {
	graphs, err := world.ListAll(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, tr := range b {
		if g, ok := graphs[tr.namespace]; ok {
			all[tr.namespace] = randomcluster.Snapshot(g, tr.namespace)
		}
	}
	return all, nil
}

// runAndRelease runs the loop and removes finalizers from what is being deleted until nothing
// changes any more: as often as finalizers are removed one below the other.
func (b batch) runAndRelease(ctx context.Context, client *cluster.Client, world *randomcluster.World,
	cascade map[types.UID]bool, waiting ...string) (map[string][]string, error) {
	var now map[string][]string
	for range 12 {
		if err := b.run(ctx, client, waiting...); err != nil {
			return nil, err
		}
		if err := world.ReleaseAll(ctx, cascade); err != nil {
			return nil, err
		}
		last := now
		var err error
		if now, err = b.snapshots(ctx, world); err != nil {
			return nil, err
		}
		if last != nil && cmp.Equal(last, now) {
			break
		}
	}
	return now, nil
}

func newClient(t *testing.T, c *testcluster.Cluster) *cluster.Client {
	t.Helper()
	client, err := cluster.New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestLoopDoesWhatThePlanSays_P10 makes random clusters without a collector, plans the deletion of
// some of their objects under the rules of the loop, deletes them, runs the loop, and compares what
// is left with the plan, object by object and reference by reference.
func TestLoopDoesWhatThePlanSays_P10(t *testing.T) {
	// It takes more than 10 s beside others: each of the clusters is made, listed and collected.
	t.Parallel()
	c := testcluster.Shared(t)
	world := randomcluster.New(t, c)
	client := newClient(t, c)
	deleted, timing := 0, 0
	for _, b := range batches("g", *randomSeed, randomcluster.Graphs(), 100) {
		plans, left, err := b.compareWithPlans(t.Context(), world, client)
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range b {
			p := plans[tr.namespace]
			diff := cmp.Diff(describe(p, tr.namespace), left[tr.namespace])
			switch {
			case diff == "":
				deleted += len(p.Deleted)
			case p.DependsOnTiming:
				timing++
			default:
				t.Errorf("seed %d, %s: (-plan +loop)\n%s\nplan:\n%s", tr.seed, p.Policy, diff, actions(p))
			}
		}
	}
	t.Logf("%d objects deleted as planned; %d graphs depend on timing", deleted, timing)
	if timing > 1+randomcluster.Graphs()/20 {
		t.Errorf("%d of %d graphs depend on timing, which is too many to call it that", timing, randomcluster.Graphs())
	}
	if deleted < randomcluster.Graphs() {
		t.Errorf("only %d objects were deleted, so little was compared", deleted)
	}
}

// compareWithPlans returns the plan for each random cluster and what the loop leaves of it.
func (b batch) compareWithPlans(ctx context.Context, world *randomcluster.World,
	client *cluster.Client) (map[string]*plan.Plan, map[string][]string, error) {
	// objects that remain only make later listings longer
	defer func() { _ = world.Wipe(context.Background(), b.namespaces()) }()
	if err := b.create(ctx, world); err != nil {
		return nil, nil, err
	}
	if err := b.run(ctx, client); err != nil {
		return nil, nil, err
	}
	graphs, err := world.ListAll(ctx)
	if err != nil {
		return nil, nil, err
	}
	plans := map[string]*plan.Plan{}
	cascade := map[types.UID]bool{} // whose finalizers are removed
	var deleted []string
	for _, tr := range b {
		g, ok := graphs[tr.namespace]
		if !ok {
			g = graph.NewBuilder().Build() // nothing is left
		}
		policy := []plan.Policy{plan.Background, plan.Foreground, plan.Orphan}[tr.rng.IntN(3)]
		p := plan.New(g, randomcluster.Roots(g, tr.namespace, tr.rng.IntN), policy, plan.Options{Rules: plan.Loop})
		plans[tr.namespace] = p
		if err := deleteRoots(ctx, world, p); err != nil {
			return nil, nil, err
		}
		for _, id := range p.Roots {
			deleted = append(deleted, g.Ref(id).UID)
		}
		for _, id := range randomcluster.Seen(g) {
			if p.End().Gone(id) || p.End().Deleting(id) {
				cascade[types.UID(g.Ref(id).UID)] = g.State(id) != graph.Deleting || slices.Contains(p.Deleted, id)
			}
		}
	}
	left, err := b.runAndRelease(ctx, client, world, cascade, deleted...)
	return plans, left, err
}

// deleteRoots sends the deletes of a plan that are the client's.
func deleteRoots(ctx context.Context, world *randomcluster.World, p *plan.Plan) error {
	for _, a := range p.Actions {
		if a.By == plan.ByClient {
			if err := world.Delete(ctx, p.Graph.Ref(a.Object), string(a.Policy)); err != nil {
				return err
			}
		}
	}
	return nil
}

// describe describes the graph of a plan as the plan leaves it, or one random cluster of it.
func describe(p *plan.Plan, namespace string) []string {
	end := p.End()
	return randomcluster.Describe(p.Graph, namespace, func(id graph.ID) randomcluster.Object {
		item, refs := end.Item(id)
		gone := end.Gone(id) || clusterOf(p.Graph.Ref(id)) != namespace || !isRandom(p.Graph.Ref(id))
		o := randomcluster.Object{Gone: gone, Deleting: item.Deleting, Orphan: item.Orphan,
			Foreground: item.Foreground, Held: end.HasForeignFinalizers(id), Refs: refs}
		for _, e := range refs {
			o.Blocks = append(o.Blocks, end.Blocks(e))
		}
		return o
	})
}

// isRandom reports whether an object was made at random, and not by the cluster.
func isRandom(r graph.Ref) bool { return r.Kind != "Namespace" && r.Name != "kube-root-ca.crt" }

// TestRunDoesWhatItsPlanSays_P10 makes wild clusters and plans a run over them. The run does not
// want to do more than that, and what is left is as planned, object by object.
func TestRunDoesWhatItsPlanSays_P10(t *testing.T) {
	// It takes more than 10 s beside others: each of the clusters is made, planned and collected.
	t.Parallel()
	c := testcluster.Shared(t)
	world := randomcluster.New(t, c)
	client := newClient(t, c)
	actions := 0
	for _, b := range batches("r", *randomSeed, randomcluster.Graphs(), 50) {
		ctx := t.Context()
		if err := b.each(ctx, func(ctx context.Context, tr *trial) error {
			return world.CreateWild(ctx, tr.namespace, tr.rng)
		}); err != nil {
			t.Fatal(err)
		}
		before, err := b.snapshots(ctx, world)
		if err != nil {
			t.Fatal(err)
		}
		events := map[string][]string{}
		loop := New(client, Options{Allow: b.within(), AllowOwnerLoss: true, OnEvent: func(e plan.Event) {
			in := clusterOf(e.Action.Object)
			events[in] = append(events[in], fmt.Sprintf("%d %s %s %s %s %v", e.Action.Pass, e.Action.Verb, e.Action.Object.Name,
				e.Action.Policy, e.Action.Because, e.Err))
		}, Agree: func(_ context.Context, p *Proposal) error {
			for _, id := range slices.Concat(p.Growth.Deleted, p.Growth.Written) {
				t.Errorf("pass %d has come up with %s in %s", p.Pass, p.Graph.Ref(id).Name, clusterOf(p.Graph.Ref(id)))
			}
			return nil
		}})
		p, err := loop.Propose(ctx)
		if err != nil {
			t.Fatal(err)
		}
		loop.Agreed(p.Plan)
		actions += len(p.Plan.Actions)
		if _, err := loop.Run(ctx); err != nil {
			t.Error(err)
		}
		left, err := b.snapshots(ctx, world)
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range b {
			if diff := cmp.Diff(describe(p.Plan, tr.namespace), left[tr.namespace]); diff != "" {
				t.Errorf("seed %d: (-plan +loop)\n%s\nbefore:\n%s\nloop:\n%s", tr.seed, diff,
					strings.Join(before[tr.namespace], "\n"), strings.Join(events[tr.namespace], "\n"))
			}
		}
		if err := world.Wipe(context.WithoutCancel(ctx), b.namespaces()); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d actions as planned", actions)
	if actions < randomcluster.Graphs() {
		t.Errorf("only %d actions were planned, so little was compared", actions)
	}
}

func actions(p *plan.Plan) string {
	var b strings.Builder
	for _, a := range p.Actions {
		fmt.Fprintf(&b, "%d %s %s %s %s %v\n", a.Wave, a.Verb, p.Graph.Ref(a.Object).Name, a.Policy, a.Because.Code, a.Edges)
	}
	return b.String()
}
