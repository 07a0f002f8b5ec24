package workloads

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// TestNobodyKillsWhereNoKubeletHears: a shorter grace period has containers killed only where a kubelet
// does that.
func TestNobodyKillsWhereNoKubeletHears(t *testing.T) {
	t.Parallel()
	pod := v1alpha1.ObjectRef{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespace: "shop", Name: "a"}
	for name, test := range map[string]struct {
		node  core.Node
		kills bool
	}{"ready": {core.Node{}, true}, "not ready": {core.Node{NotReady: true}, false}} {
		kills := false
		for _, step := range terminating(test.node, &unstructured.Unstructured{Object: map[string]any{}}, 9).Commands {
			kills = kills || strings.Contains(step.Write(pod), "--grace-period")
		}
		if kills != test.kills {
			t.Errorf("on a node that is %s: %t", name, kills)
		}
	}
}
