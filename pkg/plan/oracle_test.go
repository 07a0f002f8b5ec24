package plan

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/randomcluster"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var oracleSeed = flag.Uint64("oracle-seed", 1, "seed of the first random graph to hold against the real collector")

func TestMain(m *testing.M) {
	testcluster.Main(m, testcluster.Controllers(testcluster.Collector),
		testcluster.ControllersArgs("--kube-api-qps=2000", "--kube-api-burst=2000"))
}

// TestPlanIsWhatTheCollectorDoes_P10 creates each random cluster at least twice, plans the deletion
// of some of its objects, deletes them and compares what the real collector leaves with the plan:
// existence, references, deletionTimestamp and finalizers of each object. A graph that ends
// differently in its copies depends on the collector's timing, which the plan has to say.
func TestPlanIsWhatTheCollectorDoes_P10(t *testing.T) {
	// It takes more than 10 s beside others: each of the clusters is made at least twice, and the
	// collector reads new types only every 30 s.
	c := testcluster.Shared(t)
	c.StopControllers(t)
	world := world{randomcluster.New(t, c)}
	c.StartControllers(t, testcluster.Collector) // which reads its types at the start, and then every 30 s
	var compared, unlike, announced, timing, deleted, stripped atomic.Int64
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for i := range randomcluster.Graphs() {
		group.Go(func() error {
			seed := *oracleSeed + uint64(i)
			copies, err := world.copies(ctx, seed)
			if errors.Is(err, randomcluster.ErrRestless) {
				unlike.Add(1)
				t.Logf("seed %d: %v", seed, err)
				return nil
			}
			if err != nil {
				return fmt.Errorf("seed %d: %w", seed, err)
			}
			a := copies[0]
			if a.timing {
				announced.Add(1)
			}
			for _, b := range copies[1:] {
				if !slices.Equal(a.before, b.before) {
					unlike.Add(1) // by what the collector did while they were made
					return nil
				}
				if !slices.Equal(a.actual, b.actual) {
					timing.Add(1)
					say := t.Logf
					if !a.timing {
						say = t.Errorf // and the plan does not say so
					}
					say("seed %d, %s of %v, release %t, depends on timing; the plan says so: %t (-one copy +another):\n%s\nbefore:\n%s", seed, a.policy, a.roots, a.release,
						a.timing, cmp.Diff(a.actual, b.actual), strings.Join(a.before, "\n"))
					return nil
				}
			}
			if a.matches() {
				compared.Add(1)
				deleted.Add(int64(a.deleted))
				stripped.Add(int64(a.stripped))
				return nil
			}
			if a.timing {
				timing.Add(1)
				t.Logf("seed %d depends on timing, by the plan's own word (-plan +collector):\n%s", seed,
					cmp.Diff(a.planned, a.actual))
				return nil
			}
			t.Errorf("seed %d, %s of %v, release %t: (-plan +collector)\n%s\nbefore:\n%s\nplan:\n%s", seed, a.policy, a.roots,
				a.release,
				cmp.Diff(a.planned, a.actual), strings.Join(a.before, "\n"), strings.Join(a.actions, "\n"))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d graphs as planned, %d ended otherwise or in several ways, %d were said to depend on timing; %d had no copies, or came to no rest before; %d objects deleted, %d references stripped",
		compared.Load(), timing.Load(), announced.Load(), unlike.Load(), deleted.Load(), stripped.Load())
	if timing.Load() > int64(1+randomcluster.Graphs()/10) {
		t.Errorf("%d of %d graphs depend on timing, which is too many to call it that", timing.Load(), randomcluster.Graphs())
	}
	if unlike.Load() > int64(1+randomcluster.Graphs()/20) {
		t.Errorf("%d of %d graphs had no copies, or came to no rest before", unlike.Load(), randomcluster.Graphs())
	}
	if deleted.Load() < int64(randomcluster.Graphs()) {
		t.Errorf("only %d objects were deleted, so little was compared", deleted.Load())
	}
}

// world is where the random clusters are.
type world struct{ *randomcluster.World }

// copies replays a random cluster twice and, if it does not end as planned, twice more: what ends
// differently in some of them is not for a plan to foresee.
func (w world) copies(ctx context.Context, seed uint64) ([]*outcome, error) {
	var copies []*outcome
	for _, name := range []string{"a", "b", "c", "d"} {
		o, err := w.replay(ctx, fmt.Sprintf("g%d-%s", seed, name), seed)
		if err != nil {
			return nil, err
		}
		copies = append(copies, o)
		if len(copies) >= 2 && copies[0].matches() {
			break
		}
	}
	return copies, nil
}

// outcome is one copy of one random cluster after its deletion.
type outcome struct {
	policy                  Policy
	roots                   []string
	release                 bool
	before, planned, actual []string
	actions                 []string
	timing                  bool // the plan says itself that its end depends on the collector's timing
	deleted, stripped       int
	cascade                 map[types.UID]bool // what the plan touches, whose finalizers are removed
}

func (o *outcome) matches() bool { return slices.Equal(o.planned, o.actual) }

// replay makes a random cluster, lets the collector finish with it, deletes, and waits until what
// is there is what was planned or does not change any more.
func (w world) replay(ctx context.Context, namespace string, seed uint64) (*outcome, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	if err := w.Create(ctx, namespace, rng); err != nil {
		return nil, err
	}
	defer w.Clear(namespace)
	g, err := w.quiet(ctx, namespace)
	if err != nil {
		return nil, err
	}
	o := &outcome{policy: []Policy{Background, Foreground, Orphan}[rng.IntN(3)], release: rng.IntN(2) == 0,
		before: randomcluster.Snapshot(g, namespace)}
	roots := randomcluster.Roots(g, namespace, rng.IntN)
	for _, id := range roots {
		o.roots = append(o.roots, strings.TrimPrefix(g.Ref(id).Name, namespace))
	}
	begin := start{roots: roots, policy: o.policy}.begin
	s := simulate(g, Options{}, o.release, begin)
	o.planned, o.timing = describe(g, s, namespace), s.timing || len(s.unsettled(begin)) > 0 ||
		New(g, roots, o.policy, Options{}).DependsOnTiming
	for _, a := range s.actions {
		o.actions = append(o.actions, fmt.Sprintf("%d %s %s %s %s %v", a.Wave, a.Verb, g.Ref(a.Object).Name, a.Policy,
			a.Because.Code, a.Edges))
	}
	o.deleted = len(s.deleted())
	o.cascade = map[types.UID]bool{}
	for _, id := range s.touched {
		o.cascade[types.UID(g.Ref(id).UID)] = true
	}
	for _, e := range s.edges {
		if e&ownerRefRemoved != 0 {
			o.stripped++
		}
	}
	for _, id := range dependentsFirst(g, roots) {
		if err := w.Delete(ctx, g.Ref(id), string(o.policy)); err != nil {
			return nil, err
		}
	}
	return o, w.until(ctx, namespace, o)
}

// until polls until the cluster is as planned and stays so while the collector collects something
// else; or until it has not changed for long.
func (w world) until(ctx context.Context, namespace string, o *outcome) error {
	changed := time.Now()
	for {
		if o.release {
			if _, err := w.Release(ctx, namespace, o.cascade); err != nil {
				return err
			}
		}
		g, err := w.List(ctx, namespace)
		if err != nil {
			return err
		}
		now := withoutSpentReferences(randomcluster.Snapshot(g, namespace))
		if !slices.Equal(now, o.actual) {
			changed = time.Now()
		}
		o.actual = now
		if o.matches() {
			if err := w.Canary(ctx, namespace); err != nil {
				return err
			}
			if g, err = w.List(ctx, namespace); err != nil {
				return err
			}
			o.actual = withoutSpentReferences(randomcluster.Snapshot(g, namespace))
			if o.matches() {
				return nil
			}
		}
		if time.Since(changed) > 8*time.Second {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// quiet waits until the collector has finished with a random cluster.
func (w world) quiet(ctx context.Context, namespace string) (*graph.Graph, error) {
	return w.Quiet(ctx, namespace, func(g *graph.Graph) (todo []string) {
		s := newSimulation(g, Options{}, false)
		s.step(randomcluster.Seen(g))
		for _, a := range s.actions {
			todo = append(todo, fmt.Sprintf("%s %s", a.Verb, g.Ref(a.Object).Name))
		}
		return todo
	})
}

// describe describes a graph as a simulation leaves it.
func describe(g *graph.Graph, s *simulation, namespace string) []string {
	return withoutSpentReferences(randomcluster.Describe(g, namespace, func(id graph.ID) randomcluster.Object {
		item, refs := s.Item(id)
		o := randomcluster.Object{Gone: s.Gone(id), Deleting: item.Deleting, Orphan: item.Orphan, Foreground: item.Foreground,
			Held: s.HasForeignFinalizers(id), Refs: refs}
		for _, e := range refs {
			o.Blocks = append(o.Blocks, s.Blocks(e))
		}
		return o
	}))
}

// withoutSpentReferences leaves out the references of objects that are being deleted and held by
// others: whether one of two owners that go was still alive when the other was seen to be gone, so
// that the reference to it was removed, tells nobody anything.
func withoutSpentReferences(lines []string) []string {
	for i, line := range lines {
		object, _, _ := strings.Cut(line, " owners=")
		if strings.Contains(object, " deleting=true ") && strings.HasSuffix(object, " held=true") {
			lines[i] = object
		}
	}
	return lines
}
