package diagnose

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

const (
	// volumeFinalizer keeps a PersistentVolume while it is bound.
	volumeFinalizer = "kubernetes.io/pv-protection"
	// attacherFinalizer, with the name of a driver behind, keeps a PersistentVolume while it is attached.
	attacherFinalizer = "external-attacher/"
)

// bound returns the claim to which a PersistentVolume is bound, or what keeps that if it is being deleted.
func (e *storage) bound(ctx context.Context, id graph.ID) []finding {
	ref := e.Graph.Ref(id)
	o := e.own(ctx, id)
	if o == nil {
		return e.byActor(ctx, id, volumeFinalizer)
	}
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	namespace, _, _ := unstructured.NestedString(o.Object, "spec", "claimRef", "namespace")
	name, _, _ := unstructured.NestedString(o.Object, "spec", "claimRef", "name")
	uid, _, _ := unstructured.NestedString(o.Object, "spec", "claimRef", "uid")
	if phase != "Bound" || name == "" {
		return withEvidence(e.byActor(ctx, id, volumeFinalizer), observed(fmt.Sprintf("it is %s, and not bound", phase))...)
	}
	claim, err := e.reader.GetObject(ctx, cluster.PVCs, namespace, name)
	switch {
	case err != nil:
		return withEvidence(e.byActor(ctx, id, volumeFinalizer), observed(fmt.Sprintf("its claim cannot be read: %v", err))...)
	case claim == nil || uid != "" && string(claim.GetUID()) != uid:
		return withEvidence(e.byActor(ctx, id, volumeFinalizer), observed(fmt.Sprintf("it is bound to PersistentVolumeClaim %s/%s, which no longer exists", namespace, name))...)
	}
	if claim.GetDeletionTimestamp() != nil {
		if behindIt := e.behindUser(ctx, claim); len(behindIt) > 0 {
			return behindIt
		}
	}
	policy, _, _ := unstructured.NestedString(o.Object, "spec", "persistentVolumeReclaimPolicy")
	return found(ref, finding{
		code: VolumeBound, finalizer: volumeFinalizer,
		evidence: observed(fmt.Sprintf("it is bound to PersistentVolumeClaim %s/%s", namespace, name), "its reclaim policy is "+policy),
		remedy:   "It is deleted after its claim. With the reclaim policy Delete, its data is destroyed.",
		commands: []step{at(e.ref(claim), command("kubectl", "delete", "OBJECT")).doing("deletes the claim that the volume is bound to").risking(releasing(o))},
	})
}

// attached returns where a PersistentVolume is attached, and what keeps it there.
func (e *storage) attached(ctx context.Context, id graph.ID, name string) []finding {
	ref := e.Graph.Ref(id)
	all, err := e.reader.ListObjects(ctx, cluster.VolumeAttachments, "", cluster.Selection{})
	if err != nil {
		return withEvidence(e.byActor(ctx, id, name), observed(fmt.Sprintf("whether it is attached is not known: %v", err))...)
	}
	var findings []finding
	for _, o := range all {
		if volume, _, _ := unstructured.NestedString(o.Object, "spec", "source", "persistentVolumeName"); volume != ref.Name {
			continue
		}
		f := e.attachment(ctx, o)
		if o.GetDeletionTimestamp() != nil {
			if behindIt := e.behindUser(ctx, o); len(behindIt) > 0 {
				findings = append(findings, behindIt...)
				continue
			}
		}
		f.finalizer = name
		findings = append(findings, found(ref, f)...)
	}
	if len(findings) > 0 {
		return findings
	}
	return withEvidence(e.byActor(ctx, id, name), observed("no VolumeAttachment names it")...)
}

// attachment is the cause that an attachment is.
func (e *storage) attachment(ctx context.Context, o *unstructured.Unstructured) finding {
	about := e.ref(o)
	f := finding{
		code: VolumeAttached, about: &about,
		remedy: "The volume is detached when no pod on the node uses it. If that fails, repair the CSI driver; if the machine is certainly off, the taint has kube-controller-manager detach it.",
	}
	name, _, _ := unstructured.NestedString(o.Object, "spec", "nodeName")
	driver, _, _ := unstructured.NestedString(o.Object, "spec", "attacher")
	f.evidence = append(f.evidence, observed(fmt.Sprintf("CSI driver %s has it attached to Node %s", driver, name))...)
	if message, _, _ := unstructured.NestedString(o.Object, "status", "detachError", "message"); message != "" {
		f.evidence = append(f.evidence, observed("detaching it failed: "+message)...)
	}
	n := e.workloads.node(ctx, name)
	f.evidence = append(f.evidence, n.evidence...)
	if n.notReady {
		f.commands = append(f.commands, fixedCommand("kubectl", "taint", "node", name, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute").
			doing("deletes the pods of the node and detaches its volumes by force, which corrupts what a machine that still runs writes").risking(finalizer.DataLoss))
	}
	if o.GetDeletionTimestamp() == nil {
		f.commands = append(f.commands, command("kubectl", "delete", "OBJECT").doing("has the CSI driver detach the volume from the node").risking(finalizer.RiskNone))
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
