package workloads

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// mirrorAnnotation is on the pod by which a kubelet shows a static pod
// (k8s.io/api/core/v1, MirrorPodAnnotationKey).
const mirrorAnnotation = "kubernetes.io/config.mirror"

// ofMirror completes the finding about a pod that only mirrors a static pod: nothing that is done
// to it stops what runs.
func ofMirror(pod *unstructured.Unstructured, f core.Finding) core.Finding {
	if pod.GetAnnotations()[mirrorAnnotation] == "" {
		return f
	}
	node := status.Nested(pod, "spec", "nodeName")
	f.Evidence = append(core.ObservedAt(cluster.Place(pod, "metadata.annotations"),
		fmt.Sprintf("it mirrors a static pod of Node %s: it has the annotation %s", node, mirrorAnnotation)), f.Evidence...)
	f.Remedy = fmt.Sprintf("To delete it does not stop the static pod, which the kubelet of Node %s runs from a manifest: to end that, "+
		"remove the manifest on the node. A mirror that is deleted by force goes, and the kubelet makes it again as long as "+
		"the manifest is there.", node)
	return f
}
