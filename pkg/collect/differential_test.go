package collect

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/randomcluster"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var twinSeed = flag.Uint64("twin-seed", 1,
	"seed of the first random graph to run both the loop and the real collector on")

// atRest is for how long nothing may change for a collector to count as done.
const atRest = 3 * time.Second

// poll is how often a control plane is read to see that: a reading costs it as much as what it is
// to do.
const poll = 200 * time.Millisecond

// TestSameResultAsTheCollector_P14 makes each random cluster on two control planes, without a
// collector and with one that is stopped; runs the loop on one and starts the collector of the
// other; and compares what is left, object by object. Then it deletes some objects on both, and
// compares again. What differs is named: RO-001, if it is because the collector forgets what a new
// listing shows, so that it is equal once the collector was started again; X-04, if it is because a
// reference cannot be resolved and the loop still removes those that it can; GC-061, if the
// collector has let an owner go before it looked at dependents that do not block it, which the loop
// looks at first; or timing, if the plan says that the collector's result depends on it (GC-014,
// GC-054, T-29), or the collector itself ends differently another time. Anything else is an error.
func TestSameResultAsTheCollector_P14(t *testing.T) {
	// It takes more than 10 s: for each cluster the real collector is started, and has to come to
	// rest.
	t.Parallel()
	ours := testcluster.Shared(t)
	theirs := testcluster.Start(t, testcluster.NoControllers(),
		testcluster.ControllersArgs("--kube-api-qps=2000", "--kube-api-burst=2000"))
	tw := &twins{
		client: newClient(t, ours), ours: randomcluster.New(t, ours), theirs: randomcluster.New(t, theirs), collector: theirs,
		named: map[string]int{}, compared: 0,
	}
	for _, b := range batches("d", *twinSeed, randomcluster.Graphs(), 100) {
		tw.compare(t, b)
	}
	tw.explainByTiming(t)
	t.Logf("%d comparisons, %d objects deleted; differences: %v", tw.compared, tw.deleted, tw.named)
	if tw.compared < randomcluster.Graphs()*3/2 || tw.deleted < randomcluster.Graphs() {
		t.Errorf("%d comparisons and %d deleted objects are too few to show anything", tw.compared, tw.deleted)
	}
	if tw.named["timing"] > 1+randomcluster.Graphs()/20 {
		t.Errorf("%d differences by timing are too many to call it that", tw.named["timing"])
	}
}

// twins are two control planes on which the same happens.
type twins struct {
	client       *cluster.Client
	ours, theirs *randomcluster.World
	collector    *testcluster.Cluster
	timing       map[string]bool // what depends on it
	sent         []string        // the uids of what was deleted between the rounds
	named        map[string]int  // differences
	unexplained  []*difference
	compared     int
	deleted      int
}

// difference is a random cluster that did not end alike, in the first round or the second.
type difference struct {
	seed                uint64
	second              bool
	theirs, ours, start []string
}

// compare takes one batch through both rounds.
func (tw *twins) compare(t *testing.T, b batch) {
	t.Helper()
	ctx := t.Context()
	defer tw.wipe(t, b)
	for _, world := range []*randomcluster.World{tw.ours, tw.theirs} {
		if err := b.again().create(ctx, world); err != nil {
			t.Fatal(err)
		}
	}
	start := tw.snapshots(t, b, tw.ours)
	if diff := cmp.Diff(tw.snapshots(t, b, tw.theirs), start); diff != "" {
		t.Fatalf("the copies differ from the start: (-theirs +ours)\n%s", diff)
	}
	graphs, err := tw.ours.ListAll(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tw.timing = map[string]bool{}
	for _, tr := range b {
		tw.timing[tr.namespace] = plan.NewRun(graphs[tr.namespace], plan.Options{}).DependsOnTiming
	}
	tw.collector.StartControllers(t, testcluster.Collector)
	same := tw.round(t, b, nil, start)

	// The second round, with what ended alike. The collector runs: one that starts while owners
	// wait forgets dependents that it hears of later (GC-025).
	if graphs, err = tw.ours.ListAll(ctx); err != nil {
		t.Fatal(err)
	}
	others, err := tw.theirs.ListAll(ctx)
	if err != nil {
		t.Fatal(err)
	}
	released := map[string]bool{}
	var rest batch
	for _, tr := range same {
		g, other := graphs[tr.namespace], others[tr.namespace]
		if g == nil {
			continue // nothing is left of it
		}
		rest = append(rest, tr)
		if err := deleteAlike(ctx, tw, tr, g, other); err != nil {
			t.Fatal(err)
		}
		released[tr.namespace] = tr.rng.IntN(2) == 0
	}
	tw.round(t, rest, released, tw.snapshots(t, rest, tw.ours))
}

// again is the same random clusters with their random numbers from the beginning.
func (b batch) again() batch {
	var copies batch
	for _, tr := range b {
		tr.rng = rand.New(rand.NewPCG(tr.seed, 0))
		copies = append(copies, tr)
	}
	return copies
}

// deleteAlike deletes the same objects on both control planes.
func deleteAlike(ctx context.Context, tw *twins, tr *trial, g, other *graph.Graph) error {
	policy := []plan.Policy{plan.Background, plan.Foreground, plan.Orphan}[tr.rng.IntN(3)]
	p := plan.New(g, randomcluster.Roots(g, tr.namespace, tr.rng.IntN), policy, plan.Options{Rules: plan.Loop})
	tw.timing[tr.namespace] = p.DependsOnTiming
	for _, id := range p.Roots {
		tw.sent = append(tw.sent, g.Ref(id).UID)
	}
	if err := deleteRoots(ctx, tw.ours, p); err != nil {
		return err
	}
	return deleteTwins(ctx, tw.theirs, p, other)
}

// deleteTwins deletes in a copy what a plan deletes first, in its order.
func deleteTwins(ctx context.Context, world *randomcluster.World, p *plan.Plan, copy *graph.Graph) error {
	for _, a := range p.Actions {
		if a.By != plan.ByClient {
			continue
		}
		r := p.Graph.Ref(a.Object)
		id, ok := copy.Find(r.Group(), r.Resource, r.Namespace, r.Name)
		if !ok {
			return fmt.Errorf("%s %s is not in the copy", r.Kind, r.Name)
		}
		if err := world.Delete(ctx, copy.Ref(id), string(a.Policy)); err != nil {
			return err
		}
	}
	return nil
}

// round lets the loop and the collector work, and returns the random clusters that ended alike.
func (tw *twins) round(t *testing.T, b batch, released map[string]bool, start map[string][]string) batch {
	t.Helper()
	ctx := t.Context()
	cascade, err := releasable(ctx, tw.ours, released)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.runAndRelease(ctx, tw.client, tw.ours, cascade, tw.sent...); err != nil {
		t.Fatal(err)
	}
	left := tw.snapshots(t, b, tw.ours)
	first := tw.settle(t, b, released, left)
	second := first
	if !alike(b, first, left) {
		tw.collector.StopControllers(t)
		tw.collector.StartControllers(t, testcluster.Collector)
		second = tw.settle(t, b, released, left)
	}
	var same batch
	for _, tr := range b {
		tw.compared++
		tw.deleted += max(0, len(start[tr.namespace])-len(left[tr.namespace]))
		why := ""
		switch diff := cmp.Diff(second[tr.namespace], left[tr.namespace]); {
		case diff == "":
			same = append(same, tr)
			if !slices.Equal(first[tr.namespace], left[tr.namespace]) {
				why = "RO-001"
			}
		case frozen(second[tr.namespace], left[tr.namespace]):
			why = "X-04"
		case overtaken(second[tr.namespace], left[tr.namespace], start[tr.namespace]):
			why = "GC-061"
		case tw.timing[tr.namespace]:
			why = "timing"
		default:
			tw.unexplained = append(tw.unexplained, &difference{
				seed: tr.seed, second: released != nil, theirs: second[tr.namespace], ours: left[tr.namespace],
				start: start[tr.namespace],
			})
		}
		if why != "" {
			tw.named[why]++
			t.Logf("seed %d: %s", tr.seed, why)
		}
	}
	return same
}

// releasable are the objects of the random clusters whose finalizers are removed once they are
// being deleted.
func releasable(ctx context.Context, world *randomcluster.World, released map[string]bool) (map[types.UID]bool, error) {
	graphs, err := world.ListAll(ctx)
	if err != nil {
		return nil, err
	}
	cascade := map[types.UID]bool{}
	for namespace, g := range graphs {
		for _, id := range randomcluster.Seen(g) {
			cascade[types.UID(g.Ref(id).UID)] = released[namespace]
		}
	}
	return cascade, nil
}

// settle waits until the collector has left what the loop has left, or has not changed anything for
// a while, and returns what there is.
func (tw *twins) settle(t *testing.T, b batch, released map[string]bool, left map[string][]string) map[string][]string {
	t.Helper()
	ctx := t.Context()
	cascade, err := releasable(ctx, tw.theirs, released)
	if err != nil {
		t.Fatal(err)
	}
	var now map[string][]string
	var polled time.Time
	changed := time.Now()
	testcluster.Eventually(t, "the collector comes to rest", func(ctx context.Context) (bool, error) {
		if time.Since(polled) < poll {
			return false, nil
		}
		polled = time.Now()
		if released != nil {
			if err := tw.theirs.ReleaseAll(ctx, cascade); err != nil {
				return false, err
			}
		}
		last := now
		now = tw.snapshots(t, b, tw.theirs)
		if !cmp.Equal(last, now) {
			changed = time.Now()
		}
		return time.Since(changed) > atRest || alike(b, now, left), nil
	})
	if len(b) > 0 {
		if err := tw.theirs.Canary(ctx, b[0].namespace); err != nil {
			t.Fatal(err)
		}
	}
	return tw.snapshots(t, b, tw.theirs)
}

func alike(b batch, x, y map[string][]string) bool {
	return !slices.ContainsFunc(b, func(tr *trial) bool { return !slices.Equal(x[tr.namespace], y[tr.namespace]) })
}

func (tw *twins) snapshots(t *testing.T, b batch, world *randomcluster.World) map[string][]string {
	t.Helper()
	all, err := b.snapshots(t.Context(), world)
	if err != nil {
		t.Fatal(err)
	}
	for _, lines := range all {
		for i := range lines {
			lines[i] = withoutSpentReferences(lines[i])
		}
	}
	return all
}

// withoutSpentReferences leaves out the references of an object that is being deleted and held by
// others: whether one of two owners that go was still alive when the other was seen to be gone, so
// that the reference to it was removed, is a matter of the order.
func withoutSpentReferences(line string) string {
	object, _, _ := strings.Cut(line, " owners=")
	if strings.Contains(object, " deleting=true ") && strings.HasSuffix(object, " held=true") {
		return object
	}
	return line
}

func (tw *twins) wipe(t *testing.T, b batch) {
	tw.collector.StopControllers(t)
	for _, world := range []*randomcluster.World{tw.ours, tw.theirs} {
		if err := world.Wipe(context.Background(), b.namespaces()); err != nil {
			t.Error(err)
		}
	}
}
