package protect_test

import (
	"context"
	"encoding/json"
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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/protect"
	"github.com/kubectl-gc/kubectl-gc/test/randomcluster"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var guardSeed = flag.Uint64("guard-seed", 1, "seed of the first random graph with a guard beside the real collector")

func TestMain(m *testing.M) {
	testcluster.Main(m, testcluster.Controllers(testcluster.Collector),
		testcluster.ControllersArgs("--kube-api-qps=2000", "--kube-api-burst=2000"))
}

// TestAGuardDeniesWhatWouldDeleteTheObject creates each random cluster twice, and guards one of its
// objects in the first. Then an object is deleted in both, by the real server and its collector: it is
// denied in the first if the second has lost the object, and only then. With the annotation that lifts
// the guard, and where nothing is denied, both end alike: the guard leaves nothing behind.
func TestAGuardDeniesWhatWouldDeleteTheObject(t *testing.T) {
	c := testcluster.Shared(t)
	c.StopControllers(t)
	w := guarded{randomcluster.New(t, c), c}
	c.StartControllers(t, testcluster.Collector) // which reads its types at the start
	var denied, allowed, unlike atomic.Int64
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for i := range randomcluster.Graphs() {
		group.Go(func() error {
			seed := *guardSeed + uint64(i)
			switch was, wrong, err := w.try(ctx, seed); {
			case errors.Is(err, errUnlike), errors.Is(err, randomcluster.ErrRestless):
				unlike.Add(1)
			case err != nil:
				return fmt.Errorf("seed %d: %w", seed, err)
			case wrong != "":
				t.Errorf("seed %d: %s", seed, wrong)
			case was:
				denied.Add(1)
			default:
				allowed.Add(1)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d deletions were denied and %d allowed; %d clusters were not alike, or depend on timing", denied.Load(), allowed.Load(),
		unlike.Load())
	if few := int64(randomcluster.Graphs() / 6); denied.Load() < few || allowed.Load() < few {
		t.Error("that is too few to have tried much")
	}
}

// guarded is where the random clusters are.
type guarded struct {
	*randomcluster.World
	cluster *testcluster.Cluster
}

// errUnlike is of a random cluster whose copies cannot be compared, or that has nothing to protect.
var errUnlike = errors.New("there is nothing to compare")

// twin is one copy of a random cluster.
type twin struct {
	namespace string
	*graph.Graph
}

// create makes a copy, and waits until the collector has finished with it.
func (w guarded) create(ctx context.Context, seed uint64, name string) (twin, error) {
	namespace := fmt.Sprintf("p%d-%s", seed, name)
	if err := w.Create(ctx, namespace, rand.New(rand.NewPCG(seed, 0))); err != nil {
		return twin{}, err
	}
	g, err := w.atRest(ctx, namespace)
	return twin{namespace, g}, err
}

// lost reports whether an object is gone, or is being deleted, which nothing undoes.
func (c twin) lost(name string) bool {
	return !slices.ContainsFunc(randomcluster.Seen(c.Graph), func(id graph.ID) bool {
		return strings.TrimPrefix(c.Ref(id).Name, c.namespace) == name && c.State(id) != graph.Deleting
	})
}

// named returns an object of a copy by its name without that of the copy.
func (c twin) named(name string) graph.Ref {
	for _, id := range randomcluster.Seen(c.Graph) {
		if strings.TrimPrefix(c.Ref(id).Name, c.namespace) == name {
			return c.Ref(id)
		}
	}
	return graph.Ref{}
}

// state describes what there is, without references: which of two owners that go was gone first,
// decides whether the reference to it was removed.
func (c twin) state() []string {
	lines := randomcluster.Snapshot(c.Graph, c.namespace)
	for i, line := range lines {
		lines[i], _, _ = strings.Cut(line, " owners=")
	}
	return lines
}

// try tries one random cluster. It returns whether the deletion was denied, and what is wrong.
func (w guarded) try(ctx context.Context, seed uint64) (denied bool, wrong string, err error) {
	a, err := w.create(ctx, seed, "a")
	defer w.Clear(a.namespace)
	if err != nil {
		return false, "", err
	}
	b, err := w.create(ctx, seed, "b")
	defer w.Clear(b.namespace)
	if err != nil {
		return false, "", err
	}
	before := randomcluster.Snapshot(a.Graph, a.namespace)
	rng, links := rand.New(rand.NewPCG(seed, 1)), link.New(a.Graph)
	of, guards, root, found := choose(a, links, rng)
	policy := []plan.Policy{plan.Background, plan.Foreground, plan.Orphan}[rng.IntN(3)]
	if !found || !slices.Equal(before, randomcluster.Snapshot(b.Graph, b.namespace)) ||
		plan.New(a.Graph, []graph.ID{root}, policy, plan.Options{Links: links}).DependsOnTiming {
		return false, "", errUnlike
	}
	protected := strings.TrimPrefix(a.Ref(of).Name, a.namespace)
	deleted := strings.TrimPrefix(a.Ref(root).Name, a.namespace)
	what := fmt.Sprintf("%s is protected, and %s is deleted in the %s:\n%s\n", protected, deleted, policy, strings.Join(before, "\n"))
	remove, err := w.guard(ctx, a, of, guards)
	defer remove()
	if err != nil {
		return false, "", err
	}

	refusal := w.Delete(ctx, a.Ref(root), string(policy))
	if refusal != nil && !apierrors.IsForbidden(refusal) {
		return false, "", refusal
	}
	denied = refusal != nil
	without, err := w.after(ctx, b, deleted, policy)
	if err != nil {
		return denied, "", err
	}
	lost := without.lost(protected)
	if denied && !lost && policy != plan.Orphan {
		// The other of the two may be what is denied: the policy has one answer for both.
		if lost, err = w.otherwise(ctx, seed, protected, deleted, policy); err != nil {
			return denied, "", err
		}
	}
	if denied != lost {
		return denied, fmt.Sprintf("%sdenied is %t, and lost without the guard %t: %q", what, denied, lost, without.state()), nil
	}
	if denied {
		if now, err := w.atRest(ctx, a.namespace); err != nil || !slices.Equal(randomcluster.Snapshot(now, a.namespace), before) {
			return denied, what + "it is denied, and something has changed", err
		}
		lift := slices.Concat([]string{"annotate"}, a.Ref(root).Arguments(), []string{protect.Lifts + "="})
		if _, err := w.cluster.Try(ctx, "", lift...); err != nil {
			return denied, "", err
		}
	}
	with, err := w.after(ctx, a, deleted, policy)
	if err != nil {
		return denied, what + "the deletion is still denied: " + err.Error(), nil
	}
	if diff := cmp.Diff(without.state(), with.state()); diff != "" {
		return denied, what + "the guard leaves something else (+) than there is without (-):\n" + diff, nil
	}
	return denied, "", nil
}

// otherwise reports whether an object is lost with the other of the policies that do not orphan.
func (w guarded) otherwise(ctx context.Context, seed uint64, protected, deleted string, not plan.Policy) (bool, error) {
	c, err := w.create(ctx, seed, "c")
	defer w.Clear(c.namespace)
	if err != nil {
		return false, err
	}
	other := plan.Background
	if not == other {
		other = plan.Foreground
	}
	after, err := w.after(ctx, c, deleted, other)
	return err == nil && after.lost(protected), err
}

// after deletes an object of a copy, takes off what holds the objects that go with it, and returns what
// is left.
func (w guarded) after(ctx context.Context, c twin, deleted string, policy plan.Policy) (twin, error) {
	going := map[types.UID]bool{}
	for _, id := range randomcluster.Seen(c.Graph) {
		going[types.UID(c.Ref(id).UID)] = c.State(id) != graph.Deleting
	}
	if err := w.Delete(ctx, c.named(deleted), string(policy)); err != nil {
		return twin{}, err
	}
	for {
		g, err := w.atRest(ctx, c.namespace)
		if err != nil {
			return twin{}, err
		}
		if held, err := w.Release(ctx, c.namespace, going); err != nil || !held {
			return twin{c.namespace, g}, err
		}
	}
}

// choose chooses an object to be protected, with its guards, and one to be deleted: the guard that is
// farthest, or any object. Nothing is chosen that is being deleted already, or goes with what is: no
// policy keeps it, which the command says.
func choose(g twin, links *link.Links, rng *rand.Rand) (of graph.ID, guards []protect.Guarded, root graph.ID, found bool) {
	alive := slices.DeleteFunc(randomcluster.Seen(g.Graph), func(id graph.ID) bool { return g.State(id) == graph.Deleting })
	slices.SortFunc(alive, func(x, y graph.ID) int {
		return strings.Compare(strings.TrimPrefix(g.Ref(x).Name, g.namespace), strings.TrimPrefix(g.Ref(y).Name, g.namespace))
	})
	isDeleting := func(guard protect.Guarded) bool { return g.State(guard.ID) == graph.Deleting }
	below := slices.DeleteFunc(slices.Clone(alive), func(id graph.ID) bool {
		guards := protect.Guards(g.Graph, links, id)
		return len(guards) == 1 || slices.ContainsFunc(guards, isDeleting)
	})
	if len(below) == 0 {
		return 0, nil, 0, false
	}
	of = below[rng.IntN(len(below))]
	guards = protect.Guards(g.Graph, links, of)
	if rng.IntN(3) == 0 {
		return of, guards, alive[rng.IntN(len(alive))], true
	}
	root = guards[len(guards)-1].ID
	return of, guards, root, slices.Contains(alive, root)
}

// guard has the server deny the deletion of guards, and waits until it does.
func (w guarded) guard(ctx context.Context, g twin, of graph.ID, guards []protect.Guarded) (remove func(), err error) {
	policy := protect.Policy{Object: g.Ref(of)}
	for _, guard := range guards {
		policy.Guards = append(policy.Guards, protect.Guard{Ref: g.Ref(guard.ID), Orphan: guard.Orphan})
	}
	remove = func() {}
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": policy.Manifests()})
	if err != nil {
		return remove, err
	}
	if _, err := w.cluster.Try(ctx, string(list), "create", "-f", "-"); err != nil {
		return remove, err
	}
	remove = func() { _, _ = w.cluster.Try(context.Background(), string(list), "delete", "-f", "-") }
	for began := time.Now(); ; {
		switch err := w.Delete(ctx, policy.Object, string(plan.Background), metav1.DryRunAll); {
		case apierrors.IsForbidden(err):
			return remove, nil
		case err != nil:
			return remove, err
		case time.Since(began) > time.Minute:
			return remove, fmt.Errorf("the server does not deny the deletion of %s", policy.Object.Located())
		}
		select { // no watch tells when the server heeds a policy
		case <-time.After(testcluster.Between(time.Since(began))):
		case <-ctx.Done():
			return remove, ctx.Err()
		}
	}
}

// atRest waits until the collector has finished with a copy.
func (w guarded) atRest(ctx context.Context, namespace string) (*graph.Graph, error) {
	return w.Quiet(ctx, namespace, func(g *graph.Graph) (todo []string) {
		for _, a := range plan.NewRun(g, plan.Options{}).Actions {
			todo = append(todo, fmt.Sprintf("%s %s", a.Verb, g.Ref(a.Object).Name))
		}
		return todo
	})
}
