package facts

import (
	"cmp"
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/real/record"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// policies are those of a deletion that --cascade names, but for orphan.
var policies = map[string]metav1.DeletionPropagation{
	"background": metav1.DeletePropagationBackground, "foreground": metav1.DeletePropagationForeground,
}

// goesAsPlanned deletes an object in a policy, and tests that in its namespace, or in the cluster if
// it has none, all goes that the plan names, and besides that only what the test expects. What a
// controller makes meanwhile, and what then becomes of that, does not count, nor does what the server
// itself has for each version of a CRD, an APIService, and for a Service, an IPAddress.
func goesAsPlanned(t *testing.T, c *testcluster.Cluster, ns, cascade string, resource schema.GroupVersionResource,
	name string, besides ...types.UID) record.History {
	t.Helper()
	return goesWithin(t, c, ns, ns, cascade, resource, name, besides...)
}

// namespaces are those that tests make, among others.
var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// goesWithin does so for an object that has a namespace, within the one or in the whole cluster. There
// it waits before until the namespaces of earlier tests are gone.
func goesWithin(t *testing.T, c *testcluster.Cluster, within, ns, cascade string, resource schema.GroupVersionResource,
	name string, besides ...types.UID) record.History {
	t.Helper()
	if within == "" {
		testcluster.Eventually(t, "no namespace is being deleted", func(context.Context) (bool, error) {
			return !slices.ContainsFunc(read(t, c, namespaces, "").list(""), func(o unstructured.Unstructured) bool {
				return o.GetDeletionTimestamp() != nil
			}), nil
		})
	}
	typed := resource.GroupResource().String() + "/" + name
	going := append(planned(t, c, append(in(ns), typed, "--cascade="+cascade)...), besides...)
	slices.Sort(going)
	r := record.Start(t, c.Config())
	policy := cmp.Or(policies[cascade], metav1.DeletePropagationOrphan)
	if err := read(t, c, resource, ns).delete(name, policy); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "all of the plan of "+typed+" is gone", func(h record.History) bool { return gone(h, going...) })
	there := slices.DeleteFunc(slices.Clone(h), func(e record.Event) bool {
		return within != "" && e.Namespace != within || h.When(e.UID, record.Created) != 0 ||
			e.Resource == "apiservices.apiregistration.k8s.io" || e.Resource == "ipaddresses.networking.k8s.io"
	})
	if went := went(there); !slices.Equal(going, went) {
		t.Errorf("the plan of %s and the test say that %v go, and %v are gone", typed, going, went)
	}
	return h
}

// in gives the arguments for a namespace, or for none.
func in(ns string) []string {
	if ns == "" {
		return nil
	}
	return []string{"-n", ns}
}

// makesAgain deletes an object, and tests that the plan says that a program makes it again for an
// owner, and that it does.
func makesAgain(t *testing.T, c *testcluster.Cluster, ns string, resource schema.GroupVersionResource, name, program,
	owner string) {
	t.Helper()
	before := read(t, c, resource, ns).get(name).GetUID()
	plan := planOf(t, c, resource.GroupResource().String()+"/"+name, "-n", ns)
	if len(plan.Recreated) != 1 || plan.Recreated[0].Owner.Kind != owner || plan.Recreated[0].Program != program ||
		plan.Recreated[0].Object.UID != string(before) {
		t.Errorf("the plan of %s %s says that these come back: %+v", resource.Resource, name, plan.Recreated)
	}
	if err := read(t, c, resource, ns).delete(name, metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	read(t, c, resource, ns).madeAgain(name, before)
}
