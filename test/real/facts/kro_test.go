package facts

import (
	"context"
	_ "embed"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

//go:embed testdata/kro.yaml
var shopDefinition string

var (
	shops       = schema.GroupVersionResource{Group: "kro.run", Version: "v1alpha1", Resource: "shops"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// TestKro tests what kro does with the resources of an instance: it makes one again that is deleted
// alone, and deletes all of them, the last of the definition first, before the instance is gone.
// The plans say so.
func TestKro(t *testing.T) {
	c := testcluster.Start(t, testcluster.Controllers(controllers...))
	beside.StartKro(t, c)
	c.Apply(t, shopDefinition)
	testcluster.Eventually(t, "kro serves the kind of the definition", func(ctx context.Context) (bool, error) {
		out, err := c.Try(ctx, "", "get", "rgd", "shop.kro.run", "-o", "jsonpath={.status.state}")
		return err == nil && out == "Active", nil
	})
	learnTypes(t, c)
	ns := c.Namespace(t)
	c.Apply(t, "apiVersion: kro.run/v1alpha1\nkind: Shop\nmetadata: {name: one}\nspec: {name: one}\n", "-n", ns)
	testcluster.Eventually(t, "the resources of the instance are there", func(context.Context) (bool, error) {
		return len(read(t, c, deployments, ns).list("")) == 1, nil
	})

	plan := planOf(t, c, "configmap/one-settings", "-n", ns)
	if len(plan.Recreated) != 1 || plan.Recreated[0].Owner.Kind != "Shop" || plan.Recreated[0].Program != "kro" {
		t.Errorf("the plan says that these come back: %+v", plan.Recreated)
	}
	before := read(t, c, configMaps, ns).get("one-settings").GetUID()
	c.Kubectl(t, "delete", "configmap", "one-settings", "-n", ns)
	read(t, c, configMaps, ns).madeAgain("one-settings", before)

	web, shop := uids(read(t, c, deployments, ns).list("")), uids(read(t, c, shops, ns).list(""))
	again := []types.UID{read(t, c, configMaps, ns).get("one-settings").GetUID()}
	going := planned(t, c, "shop/one", "-n", ns)
	r := record.Start(t, c.Config())
	if err := read(t, c, shops, ns).delete("one", metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "all of the plan is gone", func(h record.History) bool { return gone(h, going...) })
	inOrder(t, h, stage{"Deployment", record.Gone, web}, stage{"ConfigMap", record.Gone, again},
		stage{"Shop", record.Gone, shop})
	if went := went(h.In(ns)); !slices.Equal(going, went) {
		t.Errorf("the plan deletes %v, and %v are gone", going, went)
	}
}
