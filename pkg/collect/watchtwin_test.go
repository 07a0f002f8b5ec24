package collect

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/randomcluster"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// paces are the pauses between two changes with which the collector does again what ended
// differently. Never is for one that begins when all changes were made.
var paces = []time.Duration{never, 0, 50 * time.Millisecond, 300 * time.Millisecond, time.Second}

const never = -1

// TestWatchEndsAsTheCollectorDoes_P14 makes each random cluster on two control planes and changes
// it at once, while a loop watches on one and the collector runs on the other, and compares what is
// left when both are at rest, object by object. What differs is named as in
// TestSameResultAsTheCollector_P14; where the end depends on what the collector has done before a
// change came, each object has to end as it does where the collector meets the same changes at
// another pace: at one of a few, or else where it has worked to its end between some of them and
// not between others. No pace shows all orders of the collector's two queues: GC-053 is an object
// that the loop has kept because it looked at it before the owner that orphans it had let it go.
func TestWatchEndsAsTheCollectorDoes_P14(t *testing.T) {
	// It takes more than 10 s: for each cluster the real collector has to come to rest, often
	// several times.
	t.Parallel()
	ours := testcluster.Shared(t)
	theirs := testcluster.Start(t, testcluster.NoControllers(),
		testcluster.ControllersArgs("--kube-api-qps=2000", "--kube-api-burst=2000"))
	tw := &twins{client: newClient(t, ours), ours: randomcluster.New(t, ours), theirs: randomcluster.New(t, theirs),
		collector: theirs, named: map[string]int{}}
	theirs.StartControllers(t, testcluster.Collector)
	for _, b := range batches("m", *twinSeed, randomcluster.Few(), 100) {
		tw.compareWatch(t, b)
	}
	t.Logf("%d comparisons; differences: %v", tw.compared, tw.named)
	if tw.named["timing"] > max(3, randomcluster.Few()/5) {
		t.Errorf("%d differences by timing are too many to call it that", tw.named["timing"])
	}
}

// compareWatch takes one batch through its changes on both control planes.
func (tw *twins) compareWatch(t *testing.T, b batch) {
	t.Helper()
	var released outright
	w := watchOver(t, tw.client, Options{Allow: b.within(), AllowOwnerLoss: true, Settle: 20 * time.Millisecond,
		OnEvent: released.event})
	defer w.cancel()
	group, ctx := errgroup.WithContext(t.Context())
	for _, world := range []*randomcluster.World{tw.ours, tw.theirs} {
		group.Go(func() error { return b.createAndChange(ctx, world, 0) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	left := tw.atRest(t, b, tw.ours)
	first := tw.atRest(t, b, tw.theirs)
	second := first
	if !alike(b, first, left) {
		tw.collector.StopControllers(t)
		tw.collector.StartControllers(t, testcluster.Collector)
		second = tw.atRest(t, b, tw.theirs)
	}
	var open batch
	for _, tr := range b {
		tw.compared++
		why := ""
		switch {
		case slices.Equal(first[tr.namespace], left[tr.namespace]):
			continue
		case slices.Equal(second[tr.namespace], left[tr.namespace]):
			why = "RO-001"
		case frozen(second[tr.namespace], left[tr.namespace]):
			why = "X-04"
		default:
			open = append(open, tr)
			continue
		}
		tw.named[why]++
		t.Logf("seed %d: %s", tr.seed, why)
	}
	ends := map[uint64][][]string{}
	for _, tr := range open {
		ends[tr.seed] = [][]string{first[tr.namespace], second[tr.namespace]}
	}
	unexplained := func(tr *trial) []string { return strange(left[tr.namespace], ends[tr.seed]) }
	for i, pace := range paces {
		var rest batch
		for _, tr := range open {
			if len(unexplained(tr)) > 0 {
				rest = append(rest, tr)
			}
		}
		for seed, end := range tw.atPace(t, rest, i, pace) {
			ends[seed] = append(ends[seed], end)
		}
	}
	for _, tr := range open {
		if len(unexplained(tr)) > 0 {
			ends[tr.seed] = append(ends[tr.seed], tw.atEachPace(t, tr.seed)...)
		}
		strange := unexplained(tr)
		if len(strange) > 0 && released.explains(left[tr.namespace], strange, tr.namespace) {
			tw.named["GC-053"]++
			t.Logf("seed %d: GC-053", tr.seed)
			continue
		}
		if len(strange) > 0 && byOwners(left[tr.namespace], strange, ends[tr.seed]) {
			tw.named["timing"]++
			t.Logf("seed %d: timing, by its owners", tr.seed)
			continue
		}
		if len(strange) > 0 {
			t.Errorf("seed %d: nothing of this is ever so where the collector runs: %q\n(-collector +loop)\n%s", tr.seed,
				strange, cmp.Diff(second[tr.namespace], left[tr.namespace]))
			continue
		}
		tw.named["timing"]++
		t.Logf("seed %d: timing", tr.seed)
	}
	for _, world := range []*randomcluster.World{tw.ours, tw.theirs} {
		if err := world.Wipe(context.WithoutCancel(t.Context()), b.namespaces()); err != nil {
			t.Error(err)
		}
	}
}

// outright are the objects from which references to other owners were removed together with that
// to one that orphans them (plan.Projection.Lost).
type outright struct {
	mu      sync.Mutex
	objects []graph.Ref
}

func (r *outright) event(e plan.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Err == nil && e.Action.Because == plan.OwnerOrphans && len(e.Action.Owners) > 1 {
		r.objects = append(r.objects, e.Action.Object)
	}
}

// explains reports whether all of what is strange in a random cluster are such objects, and are
// left.
func (r *outright) explains(left, strange []string, namespace string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range strange {
		name, _ := parse(line)
		known := slices.ContainsFunc(r.objects, func(o graph.Ref) bool {
			return (o.Namespace == namespace || o.Namespace == "") && name == o.Kind+"/"+strings.TrimPrefix(o.Name, namespace)
		})
		if !known || lineOf(left, name) == "" {
			return false
		}
	}
	return true
}

// byOwners reports whether all of what is strange follows from how its owners ended: an object that
// is left names owners that are left, and has lost none that is. That is what the collector makes
// of an object with a solid owner (GC-053). It has ended each of the owners so at some pace, though
// perhaps not all of them at one.
func byOwners(left, strange []string, ends [][]string) bool {
	owners := func(line string) (names []string) {
		_, refs := parse(line)
		for _, ref := range refs {
			of, _, _ := strings.Cut(ref, " ")
			names = append(names, path.Base(path.Dir(of))+"/"+path.Base(of))
		}
		return names
	}
	for _, line := range strange {
		name, _ := parse(line)
		now := lineOf(left, name)
		has := owners(now)
		if len(has) == 0 || !strings.Contains(now, "deleting=false") ||
			slices.ContainsFunc(has, func(owner string) bool { return lineOf(left, owner) == "" }) {
			return false
		}
		for _, end := range ends {
			for _, owner := range owners(lineOf(end, name)) {
				if lineOf(left, owner) != "" && !slices.Contains(has, owner) {
					return false
				}
			}
		}
	}
	return true
}

// TestAnEndFollowsFromItsOwners: an object that is left with the owners that are left is explained;
// one that has lost an owner that is left, or names one that is not, is not.
func TestAnEndFollowsFromItsOwners(t *testing.T) {
	line := func(owners string) string {
		return "ConfigMap/o04 deleting=false orphan=true foreground=false held=false owners=[" + owners + "]"
	}
	const one, two = "plan.example.com/v1/Thing/o01 block=false", "plan.example.com/v1/Thing/o02 block=true"
	ends := [][]string{{line(one), "Thing/o01 deleting=false orphan=false foreground=false held=false owners=[]"}}
	second := "Thing/o02 deleting=false orphan=false foreground=false held=false owners=[]"
	for _, c := range []struct {
		left []string
		want bool
	}{
		{[]string{line(two), second}, true},
		{[]string{line(two)}, false},
		{[]string{line(two), second, ends[0][1]}, false},
		{[]string{line(""), second}, false},
		{[]string{strings.Replace(line(two), "deleting=false", "deleting=true", 1), second}, false},
		{[]string{second}, false},
	} {
		if got := byOwners(c.left, []string{line(two)}, ends); got != c.want {
			t.Errorf("%q: explained %t, want %t", c.left, got, c.want)
		}
	}
}

// atPace has the collector meet the changes of random clusters at another pace, the i-th of paces,
// and returns what it leaves, by seed.
func (tw *twins) atPace(t *testing.T, b batch, i int, pace time.Duration) map[uint64][]string {
	t.Helper()
	ends := map[uint64][]string{}
	if len(b) == 0 {
		return ends
	}
	var again batch
	for _, tr := range b {
		again = append(again, batches("m"+string(rune('a'+i)), tr.seed, 1, 1)[0]...)
	}
	if pace == never {
		tw.collector.StopControllers(t)
	}
	if err := again.createAndChange(t.Context(), tw.theirs, pace); err != nil {
		t.Fatal(err)
	}
	if pace == never {
		tw.collector.StartControllers(t, testcluster.Collector)
	}
	left := tw.atRest(t, again, tw.theirs)
	for _, tr := range again {
		ends[tr.seed] = left[tr.namespace]
	}
	if err := tw.theirs.Wipe(context.WithoutCancel(t.Context()), again.namespaces()); err != nil {
		t.Error(err)
	}
	return ends
}

// atEachPace has the collector work to its end before some of the changes of a random cluster, and
// not before the others, in all ways there are, each on a copy. It returns what is left of each.
func (tw *twins) atEachPace(t *testing.T, seed uint64) [][]string {
	t.Helper()
	var copies batch
	for i := range 1 << randomcluster.MostChanges {
		copies = append(copies, batches(fmt.Sprintf("p%d-", i), seed, 1, 1)[0]...)
	}
	tw.collector.StopControllers(t)
	waits := make(chan bool) // a copy waits for the collector, or all its changes were made
	var worked [randomcluster.MostChanges]chan struct{}
	for i := range worked {
		worked[i] = make(chan struct{})
	}
	group, ctx := errgroup.WithContext(t.Context())
	for i, tr := range copies {
		group.Go(func() error {
			changes, waited := 0, 0
			err := tw.theirs.CreateAndChange(ctx, tr.namespace, rand.New(rand.NewPCG(tr.seed, 0)),
				func(ctx context.Context) error {
					changes++
					if i>>(changes-1)&1 == 0 {
						return nil
					}
					waits <- true
					waited++
					select {
					case <-worked[waited-1]:
						return nil
					case <-ctx.Done():
						return context.Cause(ctx)
					}
				})
			waits <- false
			return err
		})
	}
	for round, left := 0, len(copies); ; round++ {
		waiting := 0
		for range left {
			if <-waits {
				waiting++
			}
		}
		left = waiting
		tw.collector.StartControllers(t, testcluster.Collector)
		now := tw.atRest(t, copies, tw.theirs)
		if left == 0 {
			if err := group.Wait(); err != nil {
				t.Fatal(err)
			}
			if err := tw.theirs.Wipe(context.WithoutCancel(t.Context()), copies.namespaces()); err != nil {
				t.Error(err)
			}
			var ends [][]string
			for _, tr := range copies {
				ends = append(ends, now[tr.namespace]) // nil if all of it is gone
			}
			return ends
		}
		tw.collector.StopControllers(t)
		close(worked[round])
	}
}

// strange returns what is left of objects, or that one is gone, where it is so in none of several
// ends.
func strange(left []string, ends [][]string) []string {
	names := map[string]bool{}
	for _, end := range append(ends, left) {
		for _, line := range end {
			name, _ := parse(line)
			names[name] = true
		}
	}
	var found []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		line := lineOf(left, name)
		if !slices.ContainsFunc(ends, func(end []string) bool { return lineOf(end, name) == line }) {
			found = append(found, strings.TrimSpace(name+" "+strings.TrimPrefix(line, name)))
		}
	}
	return found
}

// createAndChange makes the random clusters and changes them, with a pause before each change. Each
// call does the same.
func (b batch) createAndChange(ctx context.Context, world *randomcluster.World, pace time.Duration) error {
	return b.each(ctx, func(ctx context.Context, tr *trial) error {
		return world.CreateAndChange(ctx, tr.namespace, rand.New(rand.NewPCG(tr.seed, 0)),
			func(ctx context.Context) error { return sleep(ctx, max(0, pace)) })
	})
}

// atRest waits until nothing has changed for a while, and returns what there is. Finalizers of what
// is being deleted are removed in half of the random clusters.
func (tw *twins) atRest(t *testing.T, b batch, world *randomcluster.World) map[string][]string {
	t.Helper()
	released := map[string]bool{}
	for _, tr := range b {
		released[tr.namespace] = tr.seed%2 == 0
	}
	var now map[string][]string
	var polled time.Time
	changed := time.Now()
	testcluster.Eventually(t, "the collector comes to rest", func(ctx context.Context) (bool, error) {
		if time.Since(polled) < poll {
			return false, nil
		}
		polled = time.Now()
		cascade, err := releasable(ctx, world, released)
		if err == nil {
			err = world.ReleaseAll(ctx, cascade)
		}
		if err != nil {
			return false, err
		}
		last := now
		if now = tw.snapshots(t, b, world); !cmp.Equal(last, now) {
			changed = time.Now()
		}
		return time.Since(changed) > atRest, nil
	})
	return now
}
