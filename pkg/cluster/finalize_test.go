package cluster

import (
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestFinalizeChangesNothingElse_T19: the whole object is sent with its uid and resourceVersion.
// What somebody has changed meanwhile is a Conflict and not overwritten, and so is another
// namespace of that name. A dry run stores nothing.
func TestFinalizeChangesNothingElse_T19(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	read := func() *unstructured.Unstructured {
		t.Helper()
		o, err := client.GetObject(t.Context(), NamespaceType, "", ns)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	spec := func(o *unstructured.Unstructured) []string {
		list, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "finalizers")
		return list
	}
	c.Kubectl(t, "annotate", "namespace", ns, "example.com/a=b")
	stale := read()
	c.Kubectl(t, "label", "namespace", ns, "example.com/late=yes")
	if _, err := client.Finalize(t.Context(), stale, nil, WriteOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("of a stale object: %v, want a Conflict", err)
	}
	other := read()
	other.SetUID("77777777-7777-7777-7777-777777777777")
	if _, err := client.Finalize(t.Context(), other, nil, WriteOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("of another namespace: %v, want a Conflict", err)
	}
	for name, without := range map[string]func(*unstructured.Unstructured){
		"uid":             func(o *unstructured.Unstructured) { o.SetUID("") },
		"resourceVersion": func(o *unstructured.Unstructured) { o.SetResourceVersion("") },
	} {
		o := read()
		without(o)
		if _, err := client.Finalize(t.Context(), o, nil, WriteOptions{}); err == nil {
			t.Errorf("without %s: it was sent", name)
		}
	}
	live := read()
	if o, err := client.Finalize(t.Context(), live, []string{"example.com/x"},
		WriteOptions{DryRun: true}); err != nil || !slices.Equal(spec(o), []string{"example.com/x"}) {
		t.Errorf("the dry run answers %v, %v", o, err)
	}
	if now := read(); now.GetResourceVersion() != live.GetResourceVersion() {
		t.Error("the dry run was stored")
	}
	if _, err := client.Finalize(t.Context(), live, []string{"kubernetes", "example.com/x"},
		WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	now := read()
	if !slices.Equal(spec(now), []string{"kubernetes", "example.com/x"}) || now.GetAnnotations()["example.com/a"] != "b" ||
		now.GetLabels()["example.com/late"] != "yes" {
		t.Errorf("now %v", now.Object)
	}
	if o, err := client.Finalize(t.Context(), now, nil, WriteOptions{}); err != nil || len(spec(o)) != 0 {
		t.Errorf("without any: %v, %v", o, err)
	}
}
