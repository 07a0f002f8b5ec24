package finalizers

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// siblings is for a pod of a StatefulSet of which no pod is ready: whoever has put a finalizer on it
// may take it out of what its pods run together, and has to speak to one of them, as k3k does
// (https://github.com/rancher/k3k/pull/1169). Where all its pods are being deleted it makes no other
// before they are gone. What a pack knows needs no pod, and before the grace period is over a pod is
// replaced as a rule.
func (e dependencies) siblings(ctx context.Context, b core.Responsible) need {
	o := b.Object
	owner := metav1.GetControllerOf(o)
	if o.GetKind() != "Pod" || owner == nil || owner.Kind != "StatefulSet" || b.IsKnown || e.Many ||
		e.Now.Before(o.GetDeletionTimestamp().Time) {
		return need{}
	}
	id, listed := e.Graph.Lookup(string(owner.UID))
	if !listed {
		return need{}
	}
	w := e.Own(ctx, id)
	if w == nil {
		return need{}
	}
	sign := actor.ReadWorkload(w)
	if sign.Scaled || sign.Life == actor.Alive {
		return need{}
	}
	all := true
	there := map[string]bool{}
	for edge := range e.Graph.Dependents(id) {
		if ref := e.Graph.Ref(edge.Dependent); core.OfType(cluster.Pods)(ref) {
			there[ref.Name] = true
			all = all && e.Graph.State(edge.Dependent) == graph.Deleting
		}
	}
	all = all && !makesOne(w, there)
	n := need{seen: core.ObservedAt(sign.From, sign.Says), what: "a ready pod of " + cluster.Located(w),
		mend: "have one come up"}
	if all {
		n.seen = core.ObservedAt(sign.From, sign.Says+", and all its pods that are there are being deleted")
		n.mend = "remove the finalizer by hand, since it makes no pods before these are gone,"
	}
	return n
}

// makesOne reports whether a StatefulSet makes a pod though all that are there are being deleted:
// it makes those that are missing, in order, up to the first that is being deleted, and all of them
// if it is Parallel. One that is being deleted itself makes none
// (https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/controller/statefulset/stateful_set_control.go).
func makesOne(set *unstructured.Unstructured, there map[string]bool) bool {
	if set.GetDeletionTimestamp() != nil {
		return false
	}
	number := func(otherwise int64, fields ...string) int64 {
		if n, found, _ := unstructured.NestedInt64(set.Object, fields...); found {
			return n
		}
		return otherwise
	}
	parallel := status.Nested(set, "spec", "podManagementPolicy") == "Parallel"
	start := number(0, "spec", "ordinals", "start")
	for i := start; i < start+number(1, "spec", "replicas"); i++ {
		if !there[fmt.Sprintf("%s-%d", set.GetName(), i)] {
			return true
		}
		if !parallel {
			return false
		}
	}
	return false
}
