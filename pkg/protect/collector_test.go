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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

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
	w := newGuarded(t, c)
	c.StartControllers(t, testcluster.Collector) // which reads its types at the start
	var denied, allowed, unlike atomic.Int64
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for i := range randomcluster.Graphs() {
		group.Go(func() error {
			seed := *guardSeed + uint64(i)
			switch was, wrong, err := w.try(ctx, seed); {
			case errors.Is(err, errUnlike):
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
	client  dynamic.Interface
}

func newGuarded(t *testing.T, c *testcluster.Cluster) guarded {
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	return guarded{randomcluster.New(t, c), c, client}
}

// errUnlike is of a random cluster whose copies cannot be compared.
var errUnlike = errors.New("the copies are not alike")

// copy is one copy of a random cluster.
type copy struct {
	namespace string
	*graph.Graph
}

// new makes a copy, and waits until the collector has finished with it.
func (w guarded) new(ctx context.Context, seed uint64, name string) (copy, error) {
	namespace := fmt.Sprintf("p%d-%s", seed, name)
	if err := w.Create(ctx, namespace, rand.New(rand.NewPCG(seed, 0))); err != nil {
		return copy{}, err
	}
	g, err := w.atRest(ctx, namespace)
	return copy{namespace, g}, err
}

// lost says whether an object is gone, or is being deleted, which nothing undoes.
func (c copy) lost(name string) bool {
	return !slices.ContainsFunc(randomcluster.Seen(c.Graph), func(id graph.ID) bool {
		return strings.TrimPrefix(c.Ref(id).Name, c.namespace) == name && c.State(id) != graph.Deleting
	})
}

// named returns an object of a copy by its name without that of the copy.
func (c copy) named(name string) graph.Ref {
	for _, id := range randomcluster.Seen(c.Graph) {
		if strings.TrimPrefix(c.Ref(id).Name, c.namespace) == name {
			return c.Ref(id)
		}
	}
	return graph.Ref{}
}

// state describes what there is, without references: which of two owners that go was gone first,
// decides whether the reference to it was removed.
func (c copy) state() []string {
	lines := randomcluster.Snapshot(c.Graph, c.namespace)
	for i, line := range lines {
		lines[i], _, _ = strings.Cut(line, " owners=")
	}
	return lines
}

// try tries one random cluster. It returns whether the deletion was denied, and what is wrong.
func (w guarded) try(ctx context.Context, seed uint64) (denied bool, wrong string, err error) {
	a, err := w.new(ctx, seed, "a")
	defer w.Clear(a.namespace)
	if err != nil {
		return false, "", err
	}
	b, err := w.new(ctx, seed, "b")
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
	if err != nil {
		return false, "", err
	}
	defer remove()

	refusal := w.delete(ctx, a.Ref(root), policy, false)
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
		if err := w.lift(ctx, a.Ref(root)); err != nil {
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

// otherwise says whether an object is lost with the other of the policies that do not orphan.
func (w guarded) otherwise(ctx context.Context, seed uint64, protected, deleted string, not plan.Policy) (bool, error) {
	c, err := w.new(ctx, seed, "c")
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
func (w guarded) after(ctx context.Context, c copy, deleted string, policy plan.Policy) (copy, error) {
	going := map[types.UID]bool{}
	for _, id := range randomcluster.Seen(c.Graph) {
		going[types.UID(c.Ref(id).UID)] = c.State(id) != graph.Deleting
	}
	if err := w.delete(ctx, c.named(deleted), policy, false); err != nil && !apierrors.IsNotFound(err) {
		return copy{}, err
	}
	for {
		g, err := w.atRest(ctx, c.namespace)
		if err != nil {
			return copy{}, err
		}
		now := copy{c.namespace, g}
		held := slices.ContainsFunc(randomcluster.Seen(g), func(id graph.ID) bool {
			return g.State(id) == graph.Deleting && going[types.UID(g.Ref(id).UID)] &&
				slices.Contains(g.Finalizers(id), "example.com/hold")
		})
		if !held {
			return now, nil
		}
		if err := w.Release(ctx, c.namespace, going); err != nil {
			return copy{}, err
		}
	}
}

// choose chooses an object to be protected, with its guards, and one to be deleted: the guard that is
// farthest, or any object. Nothing is chosen that is being deleted already, or goes with what is: no
// policy keeps it, which the command says.
func choose(g copy, links *link.Links, rng *rand.Rand) (of graph.ID, guards []protect.Guarded, root graph.ID, found bool) {
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
func (w guarded) guard(ctx context.Context, g copy, of graph.ID, guards []protect.Guarded) (remove func(), err error) {
	policy := protect.Policy{Object: g.Ref(of)}
	for _, guard := range guards {
		policy.Guards = append(policy.Guards, protect.Guard{Ref: g.Ref(guard.ID), Orphan: guard.Orphan})
	}
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": policy.Manifests()})
	if err != nil {
		return nil, err
	}
	if _, err := w.cluster.Try(ctx, string(list), "create", "-f", "-"); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // no watch tells when it holds
		switch err := w.delete(ctx, policy.Object, plan.Background, true); {
		case apierrors.IsForbidden(err):
			return func() { _, _ = w.cluster.Try(context.Background(), string(list), "delete", "-f", "-") }, nil
		case err != nil:
			return nil, err
		case time.Now().After(deadline):
			return nil, fmt.Errorf("the server does not deny the deletion of %s", policy.Object.Located())
		}
	}
}

func (w guarded) resource(r graph.Ref) dynamic.ResourceInterface {
	version, _ := schema.ParseGroupVersion(r.APIVersion)
	all := w.client.Resource(version.WithResource(r.Resource))
	if r.Namespace == "" {
		return all
	}
	return all.Namespace(r.Namespace)
}

// delete deletes an object, or only asks whether that would be allowed.
func (w guarded) delete(ctx context.Context, r graph.Ref, policy plan.Policy, dryRun bool) error {
	propagation := metav1.DeletionPropagation(policy)
	options := metav1.DeleteOptions{PropagationPolicy: &propagation}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return w.resource(r).Delete(ctx, r.Name, options)
}

// lift puts the annotation that lifts its guards on an object.
func (w guarded) lift(ctx context.Context, r graph.Ref) error {
	patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: ""}}}`, protect.Lifts)
	_, err := w.resource(r).Patch(ctx, r.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// atRest waits until the collector has nothing left to do by its own rules.
func (w guarded) atRest(ctx context.Context, namespace string) (*graph.Graph, error) {
	for range 300 {
		if err := w.Canary(ctx, namespace); err != nil {
			return nil, err
		}
		g, err := w.List(ctx, namespace)
		if err != nil {
			return nil, err
		}
		if len(plan.NewRun(g, plan.Options{}).Actions) == 0 {
			return g, nil
		}
	}
	return nil, fmt.Errorf("%w: the collector does not come to rest in %s", errUnlike, namespace)
}
