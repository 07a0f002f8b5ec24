package storage

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

const (
	// VolumeFinalizer keeps a PersistentVolume while it is bound.
	VolumeFinalizer = "kubernetes.io/pv-protection"
	// AttacherFinalizer, with the name of a driver behind, keeps a PersistentVolume while it is attached.
	AttacherFinalizer = "external-attacher/"
)

// Bound returns the claim to which a PersistentVolume is bound, or what keeps that if it is being deleted.
func (e *Examiner) Bound(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	o := e.Own(ctx, id)
	if o == nil {
		return e.ByActor(ctx, id, VolumeFinalizer)
	}
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	namespace, _, _ := unstructured.NestedString(o.Object, "spec", "claimRef", "namespace")
	name, _, _ := unstructured.NestedString(o.Object, "spec", "claimRef", "name")
	uid, _, _ := unstructured.NestedString(o.Object, "spec", "claimRef", "uid")
	if phase != "Bound" || name == "" {
		return core.WithEvidence(e.ByActor(ctx, id, VolumeFinalizer), core.Observed(fmt.Sprintf("it is %s, and not bound", phase))...)
	}
	claim, err := e.Reader.GetObject(ctx, cluster.PVCs, namespace, name)
	switch {
	case err != nil:
		return core.WithEvidence(e.ByActor(ctx, id, VolumeFinalizer), core.Observed(fmt.Sprintf("its claim cannot be read: %v", err))...)
	case claim == nil || uid != "" && string(claim.GetUID()) != uid:
		return core.WithEvidence(e.ByActor(ctx, id, VolumeFinalizer), core.Observed(fmt.Sprintf("it is bound to PersistentVolumeClaim %s/%s, which no longer exists", namespace, name))...)
	}
	if claim.GetDeletionTimestamp() != nil {
		if behindIt := e.BehindUser(ctx, claim); len(behindIt) > 0 {
			return behindIt
		}
	}
	policy, _, _ := unstructured.NestedString(o.Object, "spec", "persistentVolumeReclaimPolicy")
	return core.Found(ref, core.Finding{
		Code: core.VolumeBound, Finalizer: VolumeFinalizer,
		Evidence: core.Observed(fmt.Sprintf("it is bound to PersistentVolumeClaim %s/%s", namespace, name), "its reclaim policy is "+policy),
		Remedy:   "It is deleted after its claim. With the reclaim policy Delete, its data is destroyed.",
		Commands: []core.Step{core.At(e.Ref(claim), core.Command("kubectl", "delete", "OBJECT")).Doing("deletes the claim that the volume is bound to").Risking(releasing(o))},
	})
}

// Attached returns where a PersistentVolume is attached, and what keeps it there.
func (e *Examiner) Attached(ctx context.Context, id graph.ID, name string) []core.Finding {
	ref := e.Graph.Ref(id)
	all, err := e.Reader.ListObjects(ctx, cluster.VolumeAttachments, "", cluster.Selection{})
	if err != nil {
		return core.WithEvidence(e.ByActor(ctx, id, name), core.Observed(fmt.Sprintf("whether it is attached is not known: %v", err))...)
	}
	var findings []core.Finding
	for _, o := range all {
		if volume, _, _ := unstructured.NestedString(o.Object, "spec", "source", "persistentVolumeName"); volume != ref.Name {
			continue
		}
		f := e.attachment(ctx, o)
		if o.GetDeletionTimestamp() != nil {
			if behindIt := e.BehindUser(ctx, o); len(behindIt) > 0 {
				findings = append(findings, behindIt...)
				continue
			}
		}
		f.Finalizer = name
		findings = append(findings, core.Found(ref, f)...)
	}
	if len(findings) > 0 {
		return findings
	}
	return core.WithEvidence(e.ByActor(ctx, id, name), core.Observed("no VolumeAttachment names it")...)
}

// attachment is the cause that an attachment is.
func (e *Examiner) attachment(ctx context.Context, o *unstructured.Unstructured) core.Finding {
	about := e.Ref(o)
	f := core.Finding{
		Code: core.VolumeAttached, About: &about,
		Remedy: "The volume is detached when no pod on the node uses it. If that fails, repair the CSI driver; if the machine is certainly off, the taint has kube-controller-manager detach it.",
	}
	name, _, _ := unstructured.NestedString(o.Object, "spec", "nodeName")
	driver, _, _ := unstructured.NestedString(o.Object, "spec", "attacher")
	f.Evidence = append(f.Evidence, core.Observed(fmt.Sprintf("CSI driver %s has it attached to Node %s", driver, name))...)
	if message, _, _ := unstructured.NestedString(o.Object, "status", "detachError", "message"); message != "" {
		f.Evidence = append(f.Evidence, core.Observed("detaching it failed: "+message)...)
	}
	n := e.workloads.Node(ctx, name)
	f.Evidence = append(f.Evidence, n.Evidence...)
	if n.NotReady {
		f.Commands = append(f.Commands, core.FixedCommand("kubectl", "taint", "node", name, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute").
			Doing("deletes the pods of the node and detaches its volumes by force, which corrupts what a machine that still runs writes").Risking(finalizer.DataLoss))
	}
	if o.GetDeletionTimestamp() == nil {
		f.Commands = append(f.Commands, core.Command("kubectl", "delete", "OBJECT").Doing("has the CSI driver detach the volume from the node").Risking(finalizer.RiskNone))
	}
	return f
}

// releasing is what is at risk when a volume is released.
func releasing(volume *unstructured.Unstructured) finalizer.Risk {
	if status.Disk(volume).Destroyed() {
		return finalizer.DataLoss
	}
	return finalizer.RiskNone
}
