// Package storage finds out what keeps claims and volumes, and which data are destroyed with an
// object.
package storage

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/workloads"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Examiner says what keeps claims and volumes, and which data are destroyed with an object.
type Examiner struct {
	*core.Examination
	workloads *workloads.Examiner
}

// New returns an examiner of an examination.
func New(c *core.Examination, w *workloads.Examiner) *Examiner { return &Examiner{c, w} }

// PVCFinalizer keeps a PersistentVolumeClaim while a pod uses it.
const PVCFinalizer = "kubernetes.io/pvc-protection"

// PVC returns the pods that use a PersistentVolumeClaim: those that are not being deleted, and what
// keeps those that are. If none does, whoever takes the finalizer off has not done it.
func (e *Examiner) PVC(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	all, err := e.Reader.ListObjects(ctx, cluster.Pods, ref.Namespace, cluster.Selection{})
	if err != nil {
		return core.WithEvidence(e.ByActor(ctx, id, PVCFinalizer),
			core.Seen("whether a pod uses it is not known: %v", err)...)
	}
	var findings []core.Finding
	f := core.Finding{Code: core.ClaimInUse, Finalizer: PVCFinalizer}
	names := []string{}
	for _, pod := range all {
		if !uses(pod, ref.Name) {
			continue
		}
		if behindIt := e.BehindUser(ctx, pod); len(behindIt) > 0 {
			findings = append(findings, behindIt...)
			continue
		}
		names = append(names, pod.GetName())
		f.Observe("%s", workloads.Usage(pod))
	}
	if len(names) > 0 {
		deletePods := core.FixedCommand(append(append([]string{"kubectl", "delete", "pods"}, names...), "-n",
			ref.Namespace)...)
		f.Commands = []core.Step{deletePods.Doing(
			"deletes the pods that use the claim, which is deleted then").Risking(e.releasingPVC(ctx, ref))}
		findings = append(findings, core.Found(ref, f)...)
	}
	if len(findings) > 0 {
		return findings
	}
	return unused(core.WithEvidence(e.ByActor(ctx, id, PVCFinalizer), core.Observed("no pod uses it")...))
}

// unused leaves out the advice to delete the pods that use a PVC, of which none does.
func unused(findings []core.Finding) []core.Finding {
	for i, f := range findings {
		if f.Finalizer == PVCFinalizer && f.Actor != "" && f.Code != core.FinalizerPutBack {
			findings[i].Remedy = phrase.Sentence("no pod uses the claim: " + f.Actor +
				" removes the finalizer when it processes the claim again; check that it is running")
		}
	}
	return findings
}

// releasingPVC is what is at risk when a PVC is deleted, empty if that is not known.
func (e *Examiner) releasingPVC(ctx context.Context, claim graph.Ref) finalizer.Risk {
	bound, failed := e.Reader.Volumes(ctx, []graph.Ref{claim}, 0)
	switch volume := bound[claim.UID]; {
	case failed[claim.UID] != nil:
		return ""
	case volume != nil:
		return releasing(volume)
	}
	return finalizer.RiskNone
}

// uses says whether a pod keeps a PVC of its namespace: one that is scheduled and names it,
// whatever its phase. A PVC of its own, for an ephemeral volume, it keeps until the kubelet is done
// with it.
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
