package diagnose

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// storage says what keeps claims and volumes, and which data are destroyed with an object.
type storage struct {
	*core
	workloads *workloads
}

// pvcFinalizer keeps a PersistentVolumeClaim while a pod uses it.
const pvcFinalizer = "kubernetes.io/pvc-protection"

// pvc returns the pods that use a PersistentVolumeClaim: those that are not being deleted, and what keeps those that are. If none does, whoever takes the
// finalizer off has not done it.
func (e *storage) pvc(ctx context.Context, id graph.ID) []finding {
	ref := e.Graph.Ref(id)
	all, err := e.reader.ListObjects(ctx, cluster.Pods, ref.Namespace, cluster.Selection{})
	if err != nil {
		return withEvidence(e.byActor(ctx, id, pvcFinalizer), observed(fmt.Sprintf("whether a pod uses it is not known: %v", err))...)
	}
	var findings []finding
	f := finding{code: ClaimInUse, finalizer: pvcFinalizer}
	names := []string{}
	for _, pod := range all {
		if !uses(pod, ref.Name) {
			continue
		}
		if pod.GetDeletionTimestamp() != nil {
			if behindIt := e.behindUser(ctx, pod); len(behindIt) > 0 {
				findings = append(findings, behindIt...)
				continue
			}
		}
		names = append(names, pod.GetName())
		f.evidence = append(f.evidence, observed(usage(pod))...)
	}
	if len(names) > 0 {
		f.remedy = "Delete the pods that use it, including those that have ended. Their replacements are not scheduled while the claim is being deleted."
		deletePods := fixedCommand(append(append([]string{"kubectl", "delete", "pods"}, names...), "-n", ref.Namespace)...)
		f.commands = []step{deletePods.doing("deletes the pods that use the claim, which is deleted then").risking(e.releasingPVC(ctx, ref))}
		findings = append(findings, found(ref, f)...)
	}
	if len(findings) > 0 {
		return findings
	}
	return unused(withEvidence(e.byActor(ctx, id, pvcFinalizer), observed("no pod uses it")...))
}

// unused leaves out the advice to delete the pods that use a PVC, of which none does.
func unused(findings []finding) []finding {
	for i, f := range findings {
		if f.finalizer == pvcFinalizer && f.actor != "" && f.code != FinalizerPutBack {
			findings[i].remedy = phrase.Sentence("no pod uses the claim: " + f.actor + " removes the finalizer when it processes the claim again; check that it is running")
		}
	}
	return findings
}

// releasingPVC is what is at risk when a PVC is deleted, empty if that is not known.
func (e *storage) releasingPVC(ctx context.Context, claim graph.Ref) finalizer.Risk {
	bound, failed := e.reader.Volumes(ctx, []graph.Ref{claim}, 0)
	switch volume := bound[claim.UID]; {
	case failed[claim.UID] != nil:
		return ""
	case volume != nil:
		return releasing(volume)
	}
	return finalizer.RiskNone
}

// uses says whether a pod keeps a PVC of its namespace: one that is scheduled and names it, whatever its phase. A PVC of its own, for an ephemeral volume,
// it keeps until the kubelet is done with it.
func uses(pod *unstructured.Unstructured, claim string) bool {
	if node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName"); node == "" {
		return false
	}
	grace := pod.GetDeletionGracePeriodSeconds()
	ended := pod.GetDeletionTimestamp() != nil && grace != nil && *grace == 0
	volumes, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
	return slices.ContainsFunc(volumes, func(item any) bool {
		m, _ := item.(map[string]any)
		named, _, _ := unstructured.NestedString(m, "persistentVolumeClaim", "claimName")
		return named == claim || m["ephemeral"] != nil && !ended && pod.GetName()+"-"+status.Text(m, "name") == claim
	})
}
