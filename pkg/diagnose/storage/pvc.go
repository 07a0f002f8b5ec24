// Package storage finds out what keeps claims and volumes, and which data are destroyed with an
// object.
package storage

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
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

// PVC returns the pods that use a PersistentVolumeClaim: those that are not being deleted, and what
// keeps those that are. If none does, whoever takes the finalizer off has not done it.
func (e *Examiner) PVC(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	pods, err := actor.PodsUsing(ctx, e.Reader, ref.Namespace, ref.Name)
	var findings []core.Finding
	f := core.Finding{Code: core.ClaimInUse, Finalizer: actor.PVCFinalizer}
	names, ended := []string{}, true
	for _, pod := range pods {
		if behindIt := e.BehindUser(ctx, pod); len(behindIt) > 0 {
			findings = append(findings, behindIt...)
			continue
		}
		names, ended = append(names, pod.GetName()), ended && status.Ended(pod)
		f.Observe("%s", workloads.Usage(pod))
	}
	if own := deletedAfter(ref.UID, e.Graph.Finalizers(id), pods); len(own) > 0 {
		f.Remedy = phrase.And(own) + " " + phrase.Plural(len(own), "belongs", "belong") + " to the claim, so that the collector deletes " +
			phrase.Plural(len(own), "it", "them") + " only after it: each waits for the other. " + f.UsualOf(core.ClaimInUse)
	}
	if len(names) > 0 {
		f.Commands = e.ending(names, ref, ended, e.releasingPVC(ctx, ref))
		findings = append(findings, core.Found(ref, f)...)
	}
	switch {
	case len(findings) > 0:
		return findings
	case err != nil:
		return core.WithEvidence(e.ByActor(ctx, id, actor.PVCFinalizer),
			core.Seen("whether a pod uses it is not known: %v", err)...)
	}
	return unused(core.WithEvidence(e.ByActor(ctx, id, actor.PVCFinalizer), core.Observed("no pod uses it")...))
}

// deletedAfter names the pods that the collector deletes once a claim is gone, and not before: they are
// not being deleted, they have no other owner, and the claim is deleted in the background (GC-053,
// GC-060, GC-067).
func deletedAfter(claim string, finalizers []string, pods []*unstructured.Unstructured) (names []string) {
	if slices.Contains(finalizers, metav1.FinalizerDeleteDependents) ||
		slices.Contains(finalizers, metav1.FinalizerOrphanDependents) {
		return nil
	}
	for _, pod := range pods {
		owners := pod.GetOwnerReferences()
		if pod.GetDeletionTimestamp() == nil && len(owners) == 1 && string(owners[0].UID) == claim {
			names = append(names, "Pod "+pod.GetName())
		}
	}
	return names
}

// ending are the commands that delete the pods that use a PVC: those that run only after a look at
// what goes with them.
func (e *Examiner) ending(names []string, claim graph.Ref, ended bool, risk finalizer.Risk) []core.Step {
	pods := append(append([]string{"pods"}, names...), "-n", claim.Namespace)
	end := core.FixedCommand(append([]string{"kubectl", "delete"}, pods...)...).
		Doing("deletes the pods that use the claim, which is deleted then").Risking(risk)
	if ended {
		return []core.Step{end}
	}
	end.Does = "ends the pods that use the claim, which is deleted then: what runs in them stops"
	look := core.FixedCommand(append(append([]string{"kubectl", "gc", "delete"}, pods...), "--dry-run")...).
		Safely("shows what is deleted with the pods, and what comes back")
	return []core.Step{look, end.Disturbing()}
}

// unused leaves out the advice to delete the pods that use a PVC, of which none does.
func unused(findings []core.Finding) []core.Finding {
	for i, f := range findings {
		if f.Finalizer == actor.PVCFinalizer && f.Actor != "" && f.Code != core.FinalizerPutBack {
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
