package finalizers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// stillSelected is for an object in a namespace that is being deleted with an owner which is not, and
// which selects the namespace by its labels: whoever made the object there for its owner may keep
// it as long as that does, as OVN-Kubernetes
// (https://github.com/ovn-kubernetes/ovn-kubernetes/issues/5883).
func (e dependencies) stillSelected(ctx context.Context, o *unstructured.Unstructured) need {
	if !e.Closed(ctx, o.GetNamespace()) || e.Many {
		return need{}
	}
	ns, err := e.Reader.GetObject(ctx, cluster.Namespaces, "", o.GetNamespace())
	if err != nil || ns == nil {
		return need{}
	}
	for _, r := range o.GetOwnerReferences() {
		t, served := e.Catalog.Kind(r.APIVersion, r.Kind)
		if !served || t.Namespaced || cluster.BuiltIn((graph.Ref{APIVersion: r.APIVersion}).Group()) {
			continue
		}
		owner, err := e.Reader.GetObject(ctx, t.GroupResource(), "", r.Name)
		if err != nil || owner == nil || owner.GetUID() != r.UID || owner.GetDeletionTimestamp() != nil {
			continue
		}
		if field := selecting(owner, ns.GetLabels()); field != "" {
			return need{seen: core.ObservedAt(cluster.Place(owner, field), fmt.Sprintf(
				"its owner %s is not being deleted, and selects namespace %s by %s, though that is", cluster.Located(owner),
				ns.GetName(), field)), what: cluster.Located(owner) + " to stop selecting the namespace",
				mend: "change the selector, or the labels of the namespace,"}
		}
	}
	return need{}
}

// selecting is the field by which an object selects namespaces with some labels; empty if it selects
// them by none, or all of them.
func selecting(o *unstructured.Unstructured, of map[string]string) string {
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	for _, key := range slices.Sorted(maps.Keys(spec)) {
		m, _ := spec[key].(map[string]any)
		if !strings.HasSuffix(strings.ToLower(key), "namespaceselector") || len(m) == 0 {
			continue
		}
		var read metav1.LabelSelector
		if runtime.DefaultUnstructuredConverter.FromUnstructured(m, &read) != nil {
			continue
		}
		if s, err := metav1.LabelSelectorAsSelector(&read); err == nil && !s.Empty() && s.Matches(labels.Set(of)) {
			return "spec." + key
		}
	}
	return ""
}
