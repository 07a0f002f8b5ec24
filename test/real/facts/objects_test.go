package facts

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// objects reads objects of one type, in one namespace if it is a namespaced one.
type objects struct {
	t      *testing.T
	client dynamic.ResourceInterface
}

func read(t *testing.T, c *testcluster.Cluster, resource schema.GroupVersionResource, namespace string) objects {
	t.Helper()
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	if namespace == "" {
		return objects{t, client.Resource(resource)}
	}
	return objects{t, client.Resource(resource).Namespace(namespace)}
}

func (o objects) get(name string) *unstructured.Unstructured {
	o.t.Helper()
	found, err := o.client.Get(o.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		o.t.Fatal(err)
	}
	return found
}

func (o objects) list(selector string) []unstructured.Unstructured {
	o.t.Helper()
	found, err := o.client.List(o.t.Context(), metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		o.t.Fatal(err)
	}
	return found.Items
}

// until waits until an object is as a test wants it, and gives it.
func (o objects) until(name, what string, holds func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	o.t.Helper()
	var found *unstructured.Unstructured
	testcluster.Eventually(o.t, name+" "+what, func(ctx context.Context) (bool, error) {
		var err error
		found, err = o.client.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil && holds(found), err
	})
	return found
}

// delete deletes an object, with a policy, without waiting for its end.
func (o objects) delete(name string, policy metav1.DeletionPropagation) error {
	return o.client.Delete(o.t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy})
}

// deleteDryRun asks the server to delete an object with dryRun=All.
func (o objects) deleteDryRun(name string) error {
	return o.client.Delete(o.t.Context(), name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
}

// madeAgain waits until an object has another uid than before.
func (o objects) madeAgain(name string, before types.UID) {
	o.t.Helper()
	o.until(name, "is made again", func(now *unstructured.Unstructured) bool { return now.GetUID() != before })
}

// gone waits until an object does not exist any more.
func (o objects) gone(name string) {
	o.t.Helper()
	testcluster.Eventually(o.t, name+" is gone", func(ctx context.Context) (bool, error) {
		_, err := o.client.Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

// condition reports whether an object has a condition with the status True.
func condition(o *unstructured.Unstructured, kind string) bool {
	return conditionOf(o, kind)["status"] == "True"
}

// conditionOf gives a condition of an object; nil if it has none.
func conditionOf(o *unstructured.Unstructured, kind string) map[string]any {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range all {
		if c, ok := c.(map[string]any); ok && c["type"] == kind {
			return c
		}
	}
	return nil
}

func uids(all []unstructured.Unstructured) []types.UID {
	var found []types.UID
	for i := range all {
		found = append(found, all[i].GetUID())
	}
	return found
}
