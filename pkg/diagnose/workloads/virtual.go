package workloads

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// onVirtual completes the finding about a pod on a node that no machine stands behind: there is no
// kubelet to look at. Who does its work fails at a pod whose ServiceAccount is gone
// (https://github.com/loft-sh/vcluster/issues/119).
func (e *Examiner) onVirtual(ctx context.Context, n core.Node, pod *unstructured.Unstructured,
	f core.Finding) core.Finding {
	f.Sentence = fmt.Sprintf("the grace period is over, and no kubelet runs on Node %s: %s has not removed the pod", n.Ref.Name,
		n.By)
	f.Remedy = fmt.Sprintf("Find out by the log of whoever removes it (%s) what it waits for, and whether what stands behind the "+
		"pod is gone.", n.By)
	account := status.Nested(pod, "spec", "serviceAccountName")
	if t, served := e.Reader.KindIn("", "ServiceAccount"); served && account != "" {
		ref := core.RefTo(t.Type, pod.GetNamespace(), account)
		if e.Absent(ctx, t.Type, ref) {
			f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(pod, "spec.serviceAccountName"),
				"its "+ref.Located()+" does not exist")...)
			f.Remedy += " It may need " + ref.Located() + ", which does not exist: create that again if so."
		}
	}
	f.Remedy += forceWarning(pod)
	return f
}
