package operator

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

const podIsReady = `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"},{"type":"ContainersReady","status":"True"}]}}`

// Kubelet makes the pods of a control plane ready, until the end of the test.
func Kubelet(t testing.TB, c *testcluster.Cluster) {
	t.Helper()
	admin, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	watch(ctx, admin, pods, "", "", func(pod *unstructured.Unstructured, gone bool) {
		if phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase"); gone || phase == "Running" ||
			pod.GetDeletionTimestamp() != nil {
			return
		}
		// It may be gone by now, and what waits for a pod that is not ready tells.
		_, _ = admin.Resource(pods).Namespace(pod.GetNamespace()).Patch(ctx, pod.GetName(), types.StrategicMergePatchType,
			[]byte(podIsReady), metav1.PatchOptions{}, "status")
	})
}
