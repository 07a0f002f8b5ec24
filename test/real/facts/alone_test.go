package facts

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// compositeAlone: of a composite without a claim the plan names what goes, and nothing else. The
// config maps are the provider's affair: no reference leads to them.
func compositeAlone(t *testing.T, p *platform) {
	p.Apply(t, "{apiVersion: platform.example.org/v1, kind: XTenant, metadata: {name: alone}, spec: {size: small}}")
	client := read(t, p.Cluster, composites, "")
	composite := client.until("alone", "is ready",
		func(o *unstructured.Unstructured) bool { return condition(o, "Ready") })
	made := p.composed(t, composite)
	r := record.Start(t, p.Config())
	plan := planned(t, p.Cluster, "xtenants.platform.example.org/alone")
	tree := shown(t, p.Cluster, "xtenants.platform.example.org/alone")
	if err := client.delete("alone", metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "it is gone", func(h record.History) bool {
		return gone(h, append(uids(made.users), append(uids(made.externals), made.composite.GetUID())...)...)
	})
	byReference := went(slices.Concat(h.Of("xtenants.platform.example.org"), h.Of("objects.kubernetes.crossplane.io"),
		h.Of("providerconfigusages.kubernetes.crossplane.io")))
	if !slices.Equal(plan, byReference) {
		t.Errorf("the plan deletes %v, and %v are gone", plan, byReference)
	}
	if !slices.Equal(tree, byReference) {
		t.Errorf("the tree shows %v, and %v are gone", tree, byReference)
	}
}

// shown gives the uids of what a tree shows.
func shown(t *testing.T, c *testcluster.Cluster, args ...string) []types.UID {
	t.Helper()
	var tree v1alpha1.Tree
	if code := plugin.JSON(t, c, &tree, append([]string{"tree"}, args...)...); code != 0 || !tree.Complete {
		t.Fatalf("tree %q: exit code %d, complete %v", args, code, tree.Complete)
	}
	var all []types.UID
	for _, node := range tree.Nodes {
		all = append(all, types.UID(node.Ref.UID))
	}
	slices.Sort(all)
	return all
}
