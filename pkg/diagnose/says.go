package diagnose

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// says returns what an object's controller says itself: the conditions that are not well, and its last warning.
func (e *examiner) says(ctx context.Context, o *unstructured.Unstructured) []string {
	var all []string
	for _, c := range status.Conditions(o) {
		if c.Message != "" && (c.Status == "False" || slices.Contains([]string{"Deleting", "Terminating", "DeletionIsBlocked", "DeletionError", "Stalled"}, c.Type)) {
			all = append(all, fmt.Sprintf("its condition %s is %s: %s", c.Type, c.Status, c.Message))
		}
	}
	list, err := e.reader.List(ctx, cluster.Events, o.GetNamespace(), cluster.Selection{Fields: "type=Warning,involvedObject.uid=" + string(o.GetUID())})
	if err != nil || len(list) == 0 {
		return all // events are an ornament
	}
	last := slices.MaxFunc(list, func(a, b *unstructured.Unstructured) int {
		return a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time)
	})
	message, _, _ := unstructured.NestedString(last.Object, "message")
	reason, _, _ := unstructured.NestedString(last.Object, "reason")
	return append(all, fmt.Sprintf("its last warning is %s: %s", reason, message))
}

// ref returns what identifies a whole object.
func (e *examiner) ref(o *unstructured.Unstructured) v1alpha1.ObjectRef {
	t, _ := e.Catalog.Kind(o.GetAPIVersion(), o.GetKind())
	return v1alpha1.ObjectRef{
		APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Resource: t.Resource, Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID()),
	}
}
