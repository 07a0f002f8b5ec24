package restore

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
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

func factsOf(kind schema.GroupKind, o map[string]any) facts {
	var f facts
	status, _, _ := unstructured.NestedMap(o, "status")
	f.status = len(status) > 0
	text := func(path ...string) string {
		s, _, _ := unstructured.NestedString(o, path...)
		return s
	}
	switch kind {
	case kindDefinition:
		f.definition = typesOf(o)
	case kindJob:
		f.finished = isTrue(status, "Complete") || isTrue(status, "Failed")
	case kindPod:
		phase := text("status", "phase")
		f.finished = phase == "Succeeded" || phase == "Failed"
		_, f.mirror, _ = unstructured.NestedString(o, "metadata", "annotations", mirrorPod)
	case kindService:
		selector, _, _ := unstructured.NestedMap(o, "spec", "selector")
		f.selects = len(selector) > 0
	case kindClaim:
		f.volume = text("spec", "volumeName")
	case kindVolume:
		f.retained = text("spec", "persistentVolumeReclaimPolicy") != "Delete"
	}
	return f
}

// IsFinished says whether a Job or a Pod has run to its end; created again, it runs again.
func IsFinished(o *unstructured.Unstructured) bool {
	return factsOf(o.GroupVersionKind().GroupKind(), o.Object).finished
}

// isTrue says whether a status has a condition that is True.
func isTrue(status map[string]any, condition string) bool {
	conditions, _, _ := unstructured.NestedSlice(status, "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		fields, _ := c.(map[string]any)
		return fields["type"] == condition && fields["status"] == "True"
	})
}

// typesOf are the types that a CustomResourceDefinition serves.
func typesOf(o map[string]any) []graph.Type {
	text := func(path ...string) string {
		s, _, _ := unstructured.NestedString(o, path...)
		return s
	}
	var types []graph.Type
	versions, _, _ := unstructured.NestedSlice(o, "spec", "versions")
	for _, v := range versions {
		fields, _ := v.(map[string]any)
		name, _ := fields["name"].(string)
		if served, _ := fields["served"].(bool); served && name != "" {
			types = append(types, graph.Type{
				Group: text("spec", "group"), Version: name, Resource: text("spec", "names", "plural"),
				Kind:       text("spec", "names", "kind"),
				Namespaced: text("spec", "scope") == "Namespaced",
			})
		}
	}
	return types
}
