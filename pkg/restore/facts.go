package restore

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// facts are what the content of an archived object decides.
type facts struct {
	// definition are the types that a CustomResourceDefinition serves, one for each version.
	definition []graph.Type
	// finished says of a Job or a Pod that it has run to its end; created again, it would run
	// again.
	finished bool
	// mirror says of a pod that the kubelet made it from a file on its node.
	mirror bool
	// selects says of a Service that it has a selector: a controller writes its endpoints.
	selects bool
	// volume is the name of the PersistentVolume of a claim.
	volume string
	// retained says of a PersistentVolume that its reclaim policy is not Delete: what it stands for
	// is still there without it.
	retained bool
	// status says that the object has one.
	status bool
}

// The kinds that are decided about by more than their place.
var (
	kindNamespace  = schema.GroupKind{Kind: "Namespace"}
	kindService    = schema.GroupKind{Kind: "Service"}
	kindEndpoints  = schema.GroupKind{Kind: "Endpoints"}
	kindAccount    = schema.GroupKind{Kind: "ServiceAccount"}
	kindConfigMap  = schema.GroupKind{Kind: "ConfigMap"}
	kindPod        = schema.GroupKind{Kind: "Pod"}
	kindJob        = schema.GroupKind{Group: "batch", Kind: "Job"}
	kindClaim      = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	kindVolume     = schema.GroupKind{Kind: "PersistentVolume"}
	kindDefinition = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
)

// mirrorPod is the annotation of a pod that the kubelet made from a file.
const mirrorPod = "kubernetes.io/config.mirror"

func factsOf(kind schema.GroupKind, o *unstructured.Unstructured) facts {
	var f facts
	state, _, _ := unstructured.NestedMap(o.Object, "status")
	f.status = len(state) > 0
	switch kind {
	case kindDefinition:
		f.definition = status.Served(o)
	case kindJob:
		f.finished = isTrue(state, "Complete") || isTrue(state, "Failed")
	case kindPod:
		f.finished = status.Ended(o)
		_, f.mirror = o.GetAnnotations()[mirrorPod]
	case kindService:
		selector, _, _ := unstructured.NestedMap(o.Object, "spec", "selector")
		f.selects = len(selector) > 0
	case kindClaim:
		f.volume = status.Nested(o, "spec", "volumeName")
	case kindVolume:
		f.retained = status.Nested(o, "spec", "persistentVolumeReclaimPolicy") != "Delete"
	}
	return f
}

// IsFinished reports whether a Job or a Pod has run to its end; created again, it runs again.
func IsFinished(o *unstructured.Unstructured) bool {
	return factsOf(o.GroupVersionKind().GroupKind(), o).finished
}

// isTrue reports whether a status has a condition that is True.
func isTrue(state map[string]any, condition string) bool {
	conditions, _, _ := unstructured.NestedSlice(state, "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		fields, _ := c.(map[string]any)
		return fields["type"] == condition && fields["status"] == "True"
	})
}
