package actor

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// outOfService is the taint of a node that is off for good: kube-controller-manager removes its pods.
const outOfService = "node.kubernetes.io/out-of-service"

// ReadNode says by its condition whether a node is ready, as a clause.
func ReadNode(o *unstructured.Unstructured, now time.Time) (says string, ready bool) {
	c, said := status.Find(o, "Ready")
	switch {
	case !said:
		return fmt.Sprintf("Node %s has never been ready", o.GetName()), false
	case c.Status == "True":
		return fmt.Sprintf("Node %s is ready", o.GetName()), true
	}
	says = fmt.Sprintf("condition Ready of Node %s is %s", o.GetName(), c.Status)
	if !c.Since.IsZero() {
		says += " for " + phrase.Ago(now.Sub(c.Since))
	}
	return says + ": " + c.Message, false
}

// Silent says whether the kubelet of a node is not heard from, so that nothing confirms that a pod has
// stopped there. One that is not ready for another reason still ends pods.
func Silent(o *unstructured.Unstructured) bool {
	c, _ := status.Find(o, "Ready")
	return c.Status == "Unknown" && !Tainted(o, outOfService)
}

// Tainted says whether a node has a taint.
func Tainted(o *unstructured.Unstructured, key string) bool {
	taints, _, _ := unstructured.NestedSlice(o.Object, "spec", "taints")
	for _, item := range taints {
		if m, _ := item.(map[string]any); status.Text(m, "key") == key {
			return true
		}
	}
	return false
}
