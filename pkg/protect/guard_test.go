package protect_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/protect"
	"github.com/kubectl-gc/kubectl-gc/test/randomcluster"
)

// TestEveryWayToLoseAnObjectIsGuarded: of random graphs each object is deleted by itself, with each
// policy. Those whose deletion takes an object along are its guards, and no others.
func TestEveryWayToLoseAnObjectIsGuarded(t *testing.T) {
	t.Parallel()
	planned := max(40, randomcluster.Graphs())
	guarded := 0
	for seed := range uint64(planned) {
		g := randomGraph(rand.New(rand.NewPCG(seed, 1)))
		links := link.New(g)
		loses := func(root, of graph.ID, policy plan.Policy) bool {
			p := plan.New(g, []graph.ID{root}, policy, plan.Options{Links: links})
			return slices.Contains(p.Deleted, of) || slices.Contains(p.Unsettled, of) ||
				slices.ContainsFunc(p.Deadlocked, func(r plan.ObjectReason) bool { return r.Object == of })
		}
		for i := range g.Len() {
			of := graph.ID(i)
			if !g.Observed(of) {
				continue
			}
			var want, got []string
			for j := range g.Len() {
				root := graph.ID(j)
				if !g.Observed(root) {
					continue
				}
				orphan := loses(root, of, plan.Orphan) || root == of
				if orphan || loses(root, of, plan.Background) || loses(root, of, plan.Foreground) {
					want = append(want, fmt.Sprint(g.Ref(root).Located(), orphan))
				}
			}
			for _, guard := range protect.Guards(g, links, of) {
				got = append(got, fmt.Sprint(g.Ref(guard.ID).Located(), guard.Orphan))
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("seed %d, %s: guards %q, want %q", seed, g.Ref(of).Located(), got, want)
			}
			guarded += len(got) - 1
		}
	}
	if guarded < 4*planned {
		t.Errorf("only %d guards above objects", guarded)
	}
}

// randomGraph has a namespace, a CRD with instances, and objects with owners, some of them absent, in
// cycles, blocking and not, being deleted and with finalizers.
func randomGraph(rng *rand.Rand) *graph.Graph {
	configMap := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	widget := graph.Type{Group: "example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true}
	role := graph.Type{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles", Kind: "ClusterRole"}
	definition := graph.Type{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
		Kind: "CustomResourceDefinition"}
	namespace := graph.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}
	b := graph.NewBuilder()
	b.Listing(namespace, "").Add(graph.Object{Name: "n", UID: "n"})
	b.Listing(definition, "").Add(graph.Object{Name: "widgets.example.com", UID: "crd"})
	types := []graph.Type{configMap, configMap, widget, role}
	n := 3 + rng.IntN(8)
	kinds := make([]graph.Type, n)
	for i := range kinds {
		kinds[i] = types[rng.IntN(len(types))]
	}
	for i, t := range kinds {
		o := graph.Object{Name: fmt.Sprint("o", i), UID: fmt.Sprint("u", i)}
		if t.Namespaced {
			o.Namespace = "n"
		}
		for range rng.IntN(3) {
			owner := rng.IntN(n + 1) // one of them is absent
			r := graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "absent", UID: "absent", Block: rng.IntN(2) == 0}
			if owner < n {
				r.APIVersion, r.Kind = kinds[owner].APIVersion(), kinds[owner].Kind
				r.Name, r.UID = fmt.Sprint("o", owner), fmt.Sprint("u", owner)
			}
			if owner == n || kinds[owner].Namespaced && !t.Namespaced {
				continue
			}
			o.Owners = append(o.Owners, r)
		}
		if rng.IntN(4) == 0 {
			o.Finalizers = append(o.Finalizers, "example.com/hold")
		}
		b.Listing(t, o.Namespace).Add(o)
	}
	return b.Build()
}
