package storage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// AttacherFinalizer is, with the name of a driver behind, what keeps a PersistentVolume while it is
// attached.
const AttacherFinalizer = "external-attacher/"

// notByCSI is what to do about a volume of an in-tree plugin that was attached by CSI
// (https://github.com/kubernetes-csi/external-attacher/pull/218).
const notByCSI = "Versions of the CSI external-attacher from before its pull request 218 leave a volume without spec.csi alone: " +
	"find out by its log whether it works on this one. Nothing is attached by what is seen: if it does not, upgrade it, " +
	"or remove the finalizer by hand."

// Bound returns the claim to which a PersistentVolume is bound, or what keeps that if it is being
// deleted.
func (e *Examiner) Bound(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	o := e.Own(ctx, id)
	if o == nil {
		return e.ByActor(ctx, id, actor.VolumeFinalizer)
	}
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	namespace, _, _ := unstructured.NestedString(o.Object, "spec", "claimRef", "namespace")
	name, _, _ := unstructured.NestedString(o.Object, "spec", "claimRef", "name")
	if phase != "Bound" || name == "" {
		return core.WithEvidence(e.ByActor(ctx, id, actor.VolumeFinalizer), core.Seen("it is %s, and not bound", phase)...)
	}
	claim, err := actor.ClaimOf(ctx, e.Reader, o)
	switch {
	case err != nil:
		return core.WithEvidence(e.ByActor(ctx, id, actor.VolumeFinalizer), core.Seen("its claim cannot be read: %v", err)...)
	case claim == nil:
		return core.WithEvidence(e.ByActor(ctx, id, actor.VolumeFinalizer),
			core.Seen("it is bound to PersistentVolumeClaim %s/%s, which no longer exists", namespace, name)...)
	}
	if behindIt := e.BehindUser(ctx, claim); len(behindIt) > 0 {
		return behindIt
	}
	policy, _, _ := unstructured.NestedString(o.Object, "spec", "persistentVolumeReclaimPolicy")
	return core.Found(ref, core.Finding{
		Code: core.VolumeBound, Finalizer: actor.VolumeFinalizer,
		Evidence: core.Observed(fmt.Sprintf("it is bound to PersistentVolumeClaim %s/%s", namespace, name),
			"its reclaim policy is "+policy),
		Commands: []core.Step{
			core.At(e.Ref(claim), core.Command("kubectl", "gc", "delete", "OBJECT", "--dry-run")).
				Safely("shows what is deleted with the claim"),
			core.At(e.Ref(claim), core.Command("kubectl", "delete", "OBJECT")).
				Doing("deletes the claim that the volume is bound to").Risking(releasing(o)),
		},
	})
}

// Attached returns where a PersistentVolume is attached, and what keeps it there.
func (e *Examiner) Attached(ctx context.Context, id graph.ID, name string) []core.Finding {
	ref := e.Graph.Ref(id)
	all, err := e.Reader.ListObjects(ctx, cluster.VolumeAttachments, "", cluster.Selection{})
	var findings []core.Finding
	for _, o := range all {
		if volume, _, _ := unstructured.NestedString(o.Object, "spec", "source", "persistentVolumeName"); volume != ref.Name {
			continue
		}
		f := e.attachment(ctx, o)
		if behindIt := e.BehindUser(ctx, o); len(behindIt) > 0 {
			findings = append(findings, behindIt...)
			continue
		}
		f.Finalizer = name
		findings = append(findings, core.Found(ref, f)...)
	}
	switch {
	case len(findings) > 0:
		return findings
	case err != nil:
		return core.WithEvidence(e.ByActor(ctx, id, name), core.Seen("whether it is attached is not known: %v", err)...)
	}
	findings = core.WithEvidence(e.ByActor(ctx, id, name), core.Observed("no VolumeAttachment names it")...)
	if o := e.Own(ctx, id); o != nil && status.Nested(o, "spec", "csi", "driver") == "" {
		findings = core.WithEvidence(findings, core.ObservedAt(cluster.Place(o, "spec"), "it has no spec.csi")...)
		for i, f := range findings {
			if f.Code == core.FinalizerActorAlive {
				findings[i].Remedy = notByCSI
			}
		}
	}
	return findings
}

// attachment is the cause that an attachment is.
func (e *Examiner) attachment(ctx context.Context, o *unstructured.Unstructured) core.Finding {
	f := core.Finding{
		Code: core.VolumeAttached, About: new(e.Ref(o)),
	}
	name, _, _ := unstructured.NestedString(o.Object, "spec", "nodeName")
	driver, _, _ := unstructured.NestedString(o.Object, "spec", "attacher")
	if message := unattached(o); message != "" {
		return neverAttached(f, o.GetName(), driver, name, message)
	}
	f.Sentence = fmt.Sprintf("the volume is attached to Node %s", name)
	f.Observe("CSI driver %s has it attached to Node %s", driver, name)
	if message, _, _ := unstructured.NestedString(o.Object, "status", "detachError", "message"); message != "" {
		f.Observe("detaching it failed: %s", message)
	}
	n := e.workloads.Node(ctx, name)
	f.Evidence = append(f.Evidence, n.Evidence...)
	if n.NotReady {
		f.Commands = append(f.Commands,
			core.FixedCommand("kubectl", "describe", "node", name).Safely("shows why the node is not ready"),
			core.FixedCommand("kubectl", "taint", "node", name, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute").
				Doing("deletes the pods of the node and detaches its volumes by force, which corrupts what a machine that still runs writes").Risking(finalizer.DataLoss))
	}
	if o.GetDeletionTimestamp() == nil {
		f.Commands = append(f.Commands, core.Command("kubectl", "delete", "OBJECT").
			Doing("has the CSI driver detach the volume from the node: only if no pod there uses it").
			Risking(finalizer.DataLoss))
	}
	return f
}

// unattached is why a VolumeAttachment that nobody has deleted has attached nothing, as its driver says;
// empty if it has, or if that is not known yet.
func unattached(o *unstructured.Unstructured) string {
	if attached, _, _ := unstructured.NestedBool(o.Object, "status", "attached"); attached || o.GetDeletionTimestamp() != nil {
		return ""
	}
	return status.Nested(o, "status", "attachError", "message")
}

// neverAttached is for one that only names the volume, by its status: what waits for it waits until
// it is deleted (https://github.com/kubernetes-csi/external-attacher/issues/66). An attacher detaches
// what it deletes all the same: one that was not answered in time may have attached it.
func neverAttached(f core.Finding, name, driver, node, message string) core.Finding {
	f.Observe("CSI driver %s has not attached it to Node %s: %s", driver, node, message)
	f.Sentence = fmt.Sprintf("VolumeAttachment %s names the volume, and could not attach it to Node %s", name, node)
	f.Remedy = fmt.Sprintf("Delete VolumeAttachment %s: by its status it has attached nothing, and its driver is asked to "+
		"detach the volume before it goes. kube-controller-manager makes it again if a pod on Node %s needs the volume.", name, node)
	f.Commands = []core.Step{core.Command("kubectl", "delete", "OBJECT").
		Safely("deletes what could not attach the volume")}
	return f
}

// releasing is what is at risk when a volume is released.
func releasing(volume *unstructured.Unstructured) finalizer.Risk {
	if status.Disk(volume).Destroyed() {
		return finalizer.DataLoss
	}
	return finalizer.RiskNone
}

// ProvisionerFinalizer keeps a PersistentVolume until its provisioner has deleted the disk
// (https://github.com/kubernetes-sigs/sig-storage-lib-external-provisioner/blob/7b865eb94e23/controller/controller.go#L89).
const ProvisionerFinalizer = "external-provisioner.volume.kubernetes.io/finalizer"

// Provisioned returns who should delete the disk of a PersistentVolume. With the reclaim policy
// Retain nobody does, be the provisioner alive or not.
func (e *Examiner) Provisioned(ctx context.Context, id graph.ID, name string) []core.Finding {
	findings := e.ByActor(ctx, id, name)
	o := e.Own(ctx, id)
	if o == nil || status.Disk(o).Destroyed() {
		return findings
	}
	findings = core.WithEvidence(findings, core.ObservedAt(cluster.Place(o, "spec.persistentVolumeReclaimPolicy"),
		"its reclaim policy is Retain: the provisioner does nothing with such a volume")...)
	for i, f := range findings {
		if !slices.Contains([]core.Code{core.FinalizerActorAlive, core.FinalizerActorDead, core.FinalizerActorNotFound,
			core.FinalizerActorUnknown}, f.Code) {
			continue
		}
		findings[i].Remedy = "The provisioner does nothing with a volume whose reclaim policy is Retain: neither waiting for it nor starting it helps. Note the handle of the disk, then remove the finalizer by hand: the disk stays."
		findings[i].Cost = fmt.Sprintf(
			"The disk of PersistentVolume %s stays, as its reclaim policy says, and nothing in the cluster names it.",
			o.GetName())
		show := core.Command("kubectl", "get", "OBJECT", "-o", "yaml").Safely("shows the handle of the disk")
		// the last removes the finalizer
		findings[i].Commands = append([]core.Step{show}, f.Commands[max(len(f.Commands)-1, 0):]...)
	}
	return findings
}

// detaches is within what time an attacher that lives has written why it fails to detach: it tries again
// after five minutes at the latest, by its default
// (https://github.com/kubernetes-csi/external-attacher/blob/e61060241a7b/README.md).
const detaches = 10 * time.Minute

// Detaching returns who should remove the finalizer of a VolumeAttachment, and what is known of the
// attachment. A driver that has failed to detach from a node that does not exist fails again: to
// wait for it is no cure. Nobody else writes that it has failed, so that it is a sign of its life.
func (e *Examiner) Detaching(ctx context.Context, id graph.ID, name string) []core.Finding {
	findings := e.ByActor(ctx, id, name)
	o := e.Own(ctx, id)
	if o == nil {
		return findings
	}
	f := e.attachment(ctx, o)
	findings = core.WithEvidence(findings, f.Evidence...)
	node, failed := status.Nested(o, "spec", "nodeName"), status.Nested(o, "status", "detachError", "message")
	for i := range findings {
		switch findings[i].Code {
		case core.FinalizerActorAlive:
		case core.FinalizerActorNotFound, core.FinalizerActorUnknown:
			at, err := time.Parse(time.RFC3339, status.Nested(o, "status", "detachError", "time"))
			if ago := e.Reader.Now().Sub(at); err == nil && ago.Abs() < detaches {
				findings[i].Code, findings[i].Sentence = core.FinalizerActorAlive, ""
				findings[i].Evidence = append(findings[i].Evidence, core.ObservedAt(cluster.Place(o, "status.detachError"),
					fmt.Sprintf("its attacher, which wrote that, was alive %s ago", phrase.Ago(ago)))...)
				break
			}
			continue
		default:
			continue
		}
		switch {
		case failed != "" && e.workloads.Node(ctx, node).Gone:
			findings[i].Remedy = fmt.Sprintf(
				"The CSI driver has failed to detach the volume, and Node %s does not exist: find out at the provider whether the machine is gone. "+
					"If it certainly is, remove the finalizer by hand; a machine that still runs would keep writing to the disk.", node)
		case failed != "":
			findings[i].Sentence = fmt.Sprintf("CSI driver %s fails to detach the volume from Node %s: %s",
				status.Nested(o, "spec", "attacher"), node, core.Brief(failed))
			findings[i].Remedy = "Fix what status.detachError reports: the CSI driver has failed to detach the volume, and tries again."
			if status.AnswersNotFound(failed) {
				findings[i].Remedy += " An API answered it that something does not exist. Look there: if the volume is certainly not " +
					"attached to the node any more, remove the finalizer by hand."
			}
		}
		last := max(len(findings[i].Commands)-1, 0) // what removes the finalizer
		findings[i].Commands = slices.Insert(slices.Clone(findings[i].Commands), last, f.Commands...)
	}
	return findings
}
