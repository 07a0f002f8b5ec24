package finalizers

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// stopKeys are fields of a spec by which what an object stands for is stopped: it has no pods then.
var stopKeys = []string{"stop", "stopped", "shutdown", "hibernate", "hibernated"}

// stopped is for a custom resource that says that it is stopped, and owns no pods: what has to be
// done in a pod before it goes cannot be done
// (https://github.com/apecloud/kubeblocks/issues/9612).
func (e dependencies) stopped(o *unstructured.Unstructured) need {
	id, listed := e.Graph.Lookup(string(o.GetUID()))
	if !listed || cluster.BuiltIn(o.GroupVersionKind().Group) || len(e.Gaps) > 0 {
		return need{}
	}
	for _, key := range stopKeys {
		if is, _, _ := unstructured.NestedBool(o.Object, "spec", key); is && !e.hasPods(id, map[graph.ID]bool{}) {
			return need{what: "pods of the object, which is stopped and owns none", mend: "start it again for that",
				seen: core.ObservedAt(cluster.Place(o, "spec."+key), fmt.Sprintf("its spec.%s is true, and it owns no pods", key))}
		}
	}
	return need{}
}

// hasPods reports whether a pod is among all that an object owns.
func (e dependencies) hasPods(id graph.ID, seen map[graph.ID]bool) bool {
	seen[id] = true
	for edge := range e.Graph.Dependents(id) {
		if core.OfType(cluster.Pods)(e.Graph.Ref(edge.Dependent)) ||
			!seen[edge.Dependent] && e.hasPods(edge.Dependent, seen) {
			return true
		}
	}
	return false
}
