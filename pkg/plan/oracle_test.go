package plan

import (
	"context"
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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var (
	oracleGraphs = flag.Int("oracle-graphs", 200, "number of random graphs to hold against the real collector")
	oracleSeed   = flag.Uint64("oracle-seed", 1, "seed of the first random graph")
)

func TestMain(m *testing.M) {
	testcluster.Main(m, testcluster.Controllers(testcluster.Collector), testcluster.ControllersArgs("--kube-api-qps=2000", "--kube-api-burst=2000"))
}

// TestP10PlanIsWhatTheCollectorDoes creates each random cluster at least twice, plans the deletion of some of its objects, deletes them and compares what
// the real collector leaves with the plan: existence, references, deletionTimestamp and finalizers of each object. A graph that ends
// differently in its copies depends on the collector's timing and is left out.
func TestP10PlanIsWhatTheCollectorDoes(t *testing.T) {
	c := testcluster.Shared(t)
	world := newWorld(t, c)
	var compared, timing, deleted, stripped atomic.Int64
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for i := range *oracleGraphs {
		group.Go(func() error {
			seed := *oracleSeed + uint64(i)
			copies, err := world.copies(ctx, seed)
			if err != nil {
				return fmt.Errorf("seed %d: %w", seed, err)
			}
			a := copies[0]
			for _, b := range copies[1:] {
				if !slices.Equal(a.actual, b.actual) {
					timing.Add(1)
					t.Logf("seed %d depends on timing (-one copy +another):\n%s", seed, cmp.Diff(a.actual, b.actual))
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
				t.Logf("seed %d depends on timing, by the plan's own word (-plan +collector):\n%s", seed, cmp.Diff(a.planned, a.actual))
				return nil
			}
			t.Errorf("seed %d, %s of %v, release %t: (-plan +collector)\n%s\nbefore:\n%s\nplan:\n%s", seed, a.policy, a.roots, a.release,
				cmp.Diff(a.planned, a.actual), strings.Join(a.before, "\n"), strings.Join(a.actions, "\n"))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d graphs as planned, %d depend on timing; %d objects deleted, %d references stripped", compared.Load(), timing.Load(), deleted.Load(), stripped.Load())
	if timing.Load() > int64(*oracleGraphs/10) {
		t.Errorf("%d of %d graphs depend on timing, which is too many to call it that", timing.Load(), *oracleGraphs)
	}
	if deleted.Load() < int64(*oracleGraphs) {
		t.Errorf("only %d objects were deleted, so little was compared", deleted.Load())
	}
}

// copies replays a random cluster twice and, if it does not end as planned, twice more: what ends differently in some of them is not
// for a plan to foresee.
func (w *world) copies(ctx context.Context, seed uint64) ([]*outcome, error) {
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
	cascade                 map[types.UID]bool // what the plan touches, whose finalizers come off
}

func (o *outcome) matches() bool { return slices.Equal(o.planned, o.actual) }

// replay makes a random cluster, lets the collector finish with it, deletes, and waits until what is there is what was planned
// or does not change any more.
func (w *world) replay(ctx context.Context, namespace string, seed uint64) (*outcome, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	if err := w.create(ctx, namespace, rng); err != nil {
		return nil, err
	}
	defer w.clear(namespace)
	g, err := w.quiet(ctx, namespace)
	if err != nil {
		return nil, err
	}
	o := &outcome{policy: []Policy{Background, Foreground, Orphan}[rng.IntN(3)], release: rng.IntN(2) == 0, before: describe(g, nil, namespace)}
	var roots []graph.ID
	seen := seenObjects(g)
	byName := slices.Clone(seen) // in an order that does not depend on uids
	slices.SortFunc(byName, func(x, y graph.ID) int {
		return strings.Compare(strings.TrimPrefix(g.Ref(x).Name, namespace), strings.TrimPrefix(g.Ref(y).Name, namespace))
	})
	for range 1 + rng.IntN(2) {
		if len(byName) > 0 {
			roots = append(roots, byName[rng.IntN(len(byName))])
		}
	}
	slices.Sort(roots)
	roots = slices.Compact(roots)
	for _, id := range roots {
		o.roots = append(o.roots, strings.TrimPrefix(g.Ref(id).Name, namespace))
	}
	s := simulate(g, roots, o.policy, Options{}, o.release)
	o.planned, o.timing = describe(g, s, namespace), s.timing
	for _, a := range s.actions {
		o.actions = append(o.actions, fmt.Sprintf("%d %s %s %s %s %v", a.Wave, a.Verb, g.Ref(a.Object).Name, a.Policy, a.Because.Code, a.Edges))
	}
	o.deleted = len(s.deleted())
	o.cascade = map[types.UID]bool{}
	for _, id := range s.touched {
		o.cascade[types.UID(g.Ref(id).UID)] = true
	}
	for _, e := range s.edges {
		if e&stripped != 0 {
			o.stripped++
		}
	}
	for _, id := range dependentsFirst(g, roots) {
		if err := w.delete(ctx, g.Ref(id), o.policy); err != nil {
			return nil, err
		}
	}
	return o, w.until(ctx, namespace, o)
}

// until polls until the cluster is as planned and stays so while the collector collects something else; or until it has not changed for long.
func (w *world) until(ctx context.Context, namespace string, o *outcome) error {
	changed := time.Now()
	for {
		if o.release {
			if err := w.release(ctx, namespace, o.cascade); err != nil {
				return err
			}
		}
		g, err := w.list(ctx, namespace)
		if err != nil {
			return err
		}
		now := describe(g, nil, namespace)
		if !slices.Equal(now, o.actual) {
			changed = time.Now()
		}
		o.actual = now
		if o.matches() {
			if err := w.canary(ctx, namespace); err != nil {
				return err
			}
			if g, err = w.list(ctx, namespace); err != nil {
				return err
			}
			o.actual = describe(g, nil, namespace)
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

// quiet waits until the collector has nothing left to do by its own rules, and has had time to do what it would do by others.
func (w *world) quiet(ctx context.Context, namespace string) (*graph.Graph, error) {
	for range 600 {
		if err := w.canary(ctx, namespace); err != nil {
			return nil, err
		}
		g, err := w.list(ctx, namespace)
		if err != nil {
			return nil, err
		}
		s := newSimulation(g, Options{}, false)
		s.step(seenObjects(g))
		if len(s.actions) == 0 {
			return g, nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, fmt.Errorf("the collector does not come to rest in %s", namespace)
}

func seenObjects(g *graph.Graph) []graph.ID {
	var ids []graph.ID
	for i := range g.Len() {
		if g.Seen(graph.ID(i)) {
			ids = append(ids, graph.ID(i))
		}
	}
	return ids
}

// describe gives a line for each object that exists: in the graph or, with a simulation, after it. Names stand for uids,
// so that two copies can be compared.
func describe(g *graph.Graph, s *simulation, namespace string) []string {
	if s == nil {
		s = newSimulation(g, Options{}, false)
	}
	var lines []string
	for _, id := range seenObjects(g) {
		if s.is(id, gone) {
			continue
		}
		r := g.Ref(id)
		var refs []string
		for e := range g.Owners(id) {
			if s.edges[e.Index]&stripped == 0 {
				refs = append(refs, fmt.Sprintf("%s/%s/%s block=%t", e.APIVersion, e.Kind, strings.TrimPrefix(e.Name, namespace), e.Block && s.edges[e.Index]&unblocked == 0))
			}
		}
		slices.Sort(refs)
		lines = append(lines, fmt.Sprintf("%s/%s deleting=%t orphan=%t foreground=%t held=%t owners=%v", r.Kind, strings.TrimPrefix(r.Name, namespace),
			s.is(id, deleting), s.is(id, orphan), s.is(id, foreground), s.is(id, held), refs))
	}
	slices.Sort(lines)
	return lines
}

func (w *world) delete(ctx context.Context, r graph.Ref, policy Policy) error {
	uid := types.UID(r.UID)
	propagation := metav1.DeletionPropagation(policy)
	err := w.resource(r.Kind, r.Namespace).Delete(ctx, r.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &propagation})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // a root that another root's deletion took
	}
	return err
}
