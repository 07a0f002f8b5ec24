package testcluster

import (
	"context"
	"crypto/rand"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// Namespace makes a namespace named after the test and gives its name. It is deleted at the test's
// end, and nobody waits for it to be gone.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	namespaces := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	name := namespaceName(t.Name())
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}
	if _, err := namespaces.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatalf("making namespace %s: %v", name, err)
	}
	t.Cleanup(func() {
		// The test's own context is done by now.
		err := namespaces.Delete(context.Background(), name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("deleting namespace %s: %v", name, err)
		}
	})
	return name
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// namespaceName makes a valid name out of a test's, different each time.
func namespaceName(test string) string {
	name := notInNames.ReplaceAllString(strings.ToLower(test), "-")
	name = strings.Trim(name[:min(len(name), 50)], "-")
	return strings.TrimPrefix(name+"-"+strings.ToLower(rand.Text()[:6]), "-")
}
