package storage

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

var snapshotClasses = schema.GroupResource{Group: "snapshot.storage.k8s.io", Resource: "volumesnapshotclasses"}

// Snapshotted returns the VolumeSnapshots of a PersistentVolumeClaim that are not ready: those that
// are not being deleted, and what keeps those that are. If there are none, whoever removes the
// finalizer has not done it.
func (e *Examiner) Snapshotted(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	by := e.ByActor(ctx, id, actor.SnapshotSourceFinalizer)
	all, err := actor.SnapshotsOf(ctx, e.Reader, ref.Namespace, ref.Name)
	if err != nil && len(all) == 0 {
		return core.WithEvidence(by, core.Seen("whether a snapshot of it is being taken is not known: %v", err)...)
	}
	var own []core.Finding
	unnamed := 0
	for _, o := range all {
		if len(own) >= phrase.MaxNamed {
			unnamed++
			continue
		}
		if behindIt := e.BehindUser(ctx, o); len(behindIt) > 0 {
			own = append(own, behindIt...)
			continue
		}
		own = append(own, core.Found(ref, e.volumeSnapshot(ctx, o, ref))...)
	}
	if len(own) == 0 {
		return core.WithEvidence(by, core.Observed("every VolumeSnapshot of it is ready")...)
	}
	if unnamed > 0 {
		own[0].Observe("%d more VolumeSnapshots of it are not ready", unnamed)
	}
	// An actor that lives waits for them; what is wrong with one that does not is a cause besides.
	return append(own, slices.DeleteFunc(by, func(f core.Finding) bool { return f.Code == core.FinalizerActorAlive })...)
}

// volumeSnapshot is the cause that a VolumeSnapshot is that is not ready.
func (e *Examiner) volumeSnapshot(ctx context.Context, o *unstructured.Unstructured, claim graph.Ref) core.Finding {
	f := core.Finding{
		Code: core.InUse, About: new(e.Ref(o)), Finalizer: actor.SnapshotSourceFinalizer,
		Evidence: append(core.ObservedAt(cluster.Place(o, "status.readyToUse"),
			fmt.Sprintf("VolumeSnapshot %s of the claim is not ready", o.GetName())), e.Says(ctx, o)...),
		Sentence: fmt.Sprintf("VolumeSnapshot %s of the claim is not ready, and the claim stays until it is, or is deleted", o.GetName()),
		Remedy: fmt.Sprintf(
			"Wait until VolumeSnapshot %s is ready, or delete it if it never will be: then the claim is released.", o.GetName()),
	}
	if class := status.Nested(o, "spec", "volumeSnapshotClassName"); class != "" {
		switch read, err := e.Reader.GetObject(ctx, snapshotClasses, "", class); {
		case err != nil:
			f.Observe("VolumeSnapshotClass %s cannot be read: %v", class, err)
		case read == nil:
			f.Observe("VolumeSnapshotClass %s does not exist", class)
			f.Remedy = fmt.Sprintf(
				"VolumeSnapshot %s cannot become ready without its class. Delete it, or create VolumeSnapshotClass %s again and wait: then the claim is released.", o.GetName(), class)
		}
	}
	f.Commands = []core.Step{core.Describe().Safely("shows why it is not ready"), core.Command("kubectl", "delete",
		"OBJECT").Doing("deletes the snapshot that is not ready; the claim is deleted then").Risking(e.releasingPVC(ctx,
		claim)).Disturbing()}
	return f
}
