package restore

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// volume is what is known of a PersistentVolume.
type volume struct {
	graph.Type
	found bool
	uid   string
	// claim names the claim that it is bound to or reserved for, as NAMESPACE/NAME, and claimUID is
	// its uid; both are empty for none.
	claim, claimUID string
	err             error
}

// of says whether the volume is bound to or reserved for a claim of this name.
func (v volume) of(it *item) bool { return v.claim == it.ref.Namespace+"/"+it.ref.Name }

// taken says whether it belongs to another claim than the archived one.
func (v volume) taken(it *item) bool {
	return v.found && v.claim != "" && (!v.of(it) || v.claimUID != "" && v.claimUID != it.ref.UID)
}

// volumeOf reads a PersistentVolume. One that is being deleted is as good as gone.
func volumeOf(ctx context.Context, client *cluster.Client, t graph.Type, name string) volume {
	o, err := client.GetObject(ctx, t, "", name)
	switch {
	case cluster.IsAbsent(err, t, name):
		return volume{}
	case err != nil:
		return volume{err: err}
	case o.GetDeletionTimestamp() != nil:
		return volume{}
	}
	v := volume{Type: t, found: true, uid: string(o.GetUID())}
	text := func(field string) string {
		s, _, _ := unstructured.NestedString(o.Object, "spec", "claimRef", field)
		return s
	}
	if name := text("name"); name != "" {
		v.claim, v.claimUID = text("namespace")+"/"+name, text("uid")
	}
	return v
}

// BoundVolume returns the PersistentVolume that is bound to an archived claim by the uid that the
// claim had; nil if there is none, or it belongs to another claim by now. The error is the
// server's.
func BoundVolume(ctx context.Context, client *cluster.Client, volumes graph.Type,
	claim *unstructured.Unstructured) (*graph.Ref, error) {
	it, err := newItem(claim)
	if err != nil || it.facts.volume == "" {
		return nil, err
	}
	v := volumeOf(ctx, client, volumes, it.facts.volume)
	if !v.found || !v.of(it) || v.claimUID != it.ref.UID {
		return nil, v.err
	}
	ref := v.Ref("", it.facts.volume, v.uid)
	return &ref, nil
}

// RebindVolume gives a PersistentVolume that is bound to a claim the uid that the claim has now;
// the controller of volumes binds them then. Nothing is written if it is bound to another uid than
// the old one.
func RebindVolume(ctx context.Context, client *cluster.Client, volumes graph.Type, volume graph.Ref, oldUID,
	newUID string) error {
	_, err := client.Patch(ctx, volumes, "", volume.Name, append(cluster.Unchanged(volume.UID, ""),
		cluster.PatchStep{Op: "test", Path: "/spec/claimRef/uid", Value: oldUID},
		cluster.PatchStep{Op: "replace", Path: "/spec/claimRef/uid", Value: newUID},
	), cluster.PatchOptions{})
	if err == nil {
		return nil
	}
	if v := volumeOf(ctx, client, volumes, volume.Name); v.uid == volume.UID && v.claimUID == newUID {
		return nil // the answer was lost, or somebody else has done it
	}
	return err
}
