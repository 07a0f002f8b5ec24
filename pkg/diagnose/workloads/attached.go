package workloads

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// unattached completes the finding about a pod that does not run, one of whose volumes could not be
// attached to its node: the kubelet may wait for that and not take the pod down meanwhile
// (https://github.com/kubernetes/kubernetes/issues/128739). What the kubelet or a driver says is said
// already.
func (e *Examiner) unattached(ctx context.Context, pod *unstructured.Unstructured, node string,
	f core.Finding) core.Finding {
	if f.Sentence != "" {
		return f
	}
	all, err := e.Reader.ListObjects(ctx, cluster.VolumeAttachments, "", cluster.Selection{})
	if err != nil || len(all) == 0 {
		return f
	}
	volumes, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
	for _, item := range volumes {
		m, _ := item.(map[string]any)
		pv := e.volumeOf(ctx, pod, m)
		i := slices.IndexFunc(all, func(a *unstructured.Unstructured) bool {
			attached, _, _ := unstructured.NestedBool(a.Object, "status", "attached")
			return pv != nil && !attached && status.Nested(a, "spec", "nodeName") == node &&
				status.Nested(a, "spec", "source", "persistentVolumeName") == pv.GetName() && attachError(a) != ""
		})
		if i < 0 {
			continue
		}
		says := core.Brief(attachError(all[i]))
		f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(all[i], "status.attachError"), fmt.Sprintf(
			"its volume %s, PersistentVolume %s, is not attached to Node %s: %s", status.Text(m, "name"), pv.GetName(), node, says))...)
		f.Sentence = fmt.Sprintf("the grace period is over, and volume %s of the pod cannot be attached to its node, which its kubelet may "+
			"wait for: %s", status.Text(m, "name"), says)
		f.Remedy = fmt.Sprintf("See to what VolumeAttachment %s says. If the pod stays, look into the log of the kubelet of Node %s.",
			all[i].GetName(), node) + forceWarning(pod)
		look := core.At(e.Ref(all[i]), core.Describe()).Safely("shows the attachment of the volume")
		f.Commands = slices.Insert(slices.Clone(f.Commands), min(1, len(f.Commands)), look)
		return f
	}
	return f
}

// attachError is why a volume could not be attached, empty if nothing is said of that.
func attachError(attachment *unstructured.Unstructured) string {
	return status.Nested(attachment, "status", "attachError", "message")
}
