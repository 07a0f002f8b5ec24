package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestObjectsThatHaveAnAnnotationAreRead as a read of each has them, and no others.
func TestObjectsThatHaveAnAnnotationAreRead(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, `
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  namespace: `+ns+`
  labels: {app: web}
  annotations: {example.com/of: b}
data: {k: v}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: `+ns+`, annotations: {example.com/other: example.com/of}}
`)
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	a, err := client.GetObjectMeta(t.Context(), configMapType, ns, "a")
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.ListAnnotated(t.Context(), configMapType, ns, []string{"example.com/of", "example.com/none"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*unstructured.Unstructured{a}, got); diff != "" {
		t.Error(diff)
	}
}
