package rescue

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// unborn is the object before it is created again: without a uid.
func (p *Planned) unborn() graph.Ref {
	ref := p.Ref
	ref.UID = ""
	return ref
}

// create creates the object as the archive has it, unless it is there already.
func (r *rescuer) create(ctx context.Context) error {
	archived := r.p.record.Object
	kept, err := r.ownersAlive(ctx, archived)
	if err != nil {
		return err
	}
	o := restore.Creatable(archived)
	if len(kept) > 0 {
		o.SetOwnerReferences(kept)
	}
	state, hasStatus := archived.Object["status"]
	if hasStatus = hasStatus && !cluster.BuiltIn(r.p.Type.Group); hasStatus {
		o.Object["status"] = state // which a type without the subresource takes
	}
	made, notes, err := restore.CreateObject(ctx, r.q.Client, r.p.Type, r.p.Ref.Namespace, o, cluster.WriteOptions{})
	action := plan.Write{Verb: restore.Create, Object: r.p.unborn()}
	switch {
	case apierrors.IsAlreadyExists(err):
		if made, err = r.existing(ctx); err != nil {
			return err
		}
	case err != nil:
		return r.failed(ctx, action, err, r.p.Ref.Quoted()+" was not created again")
	default:
		action.Object = r.p.Type.RefOf(made)
		r.done(action)
		for _, note := range notes {
			r.out.Skip(action.Object, "it was created "+note)
		}
	}
	r.p.Stage, r.p.Now = Created, r.p.Type.RefOf(made)
	return nil
}

// existing reads the object that has the name. The error is a refusal unless a rescue has created
// it.
func (r *rescuer) existing(ctx context.Context) (*unstructured.Unstructured, error) {
	live, err := r.q.Client.GetObject(ctx, r.p.Type, r.p.Ref.Namespace, r.p.Ref.Name)
	if err != nil {
		return nil, err
	}
	if r.p.stageOf(live) != Created {
		return nil, r.p.replaced(live)
	}
	return live, nil
}

// ownersAlive are the references of the object to its own owners, without those that are proven to
// be gone, or are being deleted: the collector would delete the object because of them. What cannot
// be read is not known to be gone.
func (r *rescuer) ownersAlive(ctx context.Context, o *unstructured.Unstructured) ([]metav1.OwnerReference, error) {
	var kept []metav1.OwnerReference
	for _, owner := range o.GetOwnerReferences() {
		t, known := r.q.Catalog.Kind(owner.APIVersion, owner.Kind)
		if !known {
			kept = append(kept, owner)
			continue
		}
		ref := graph.Ref{APIVersion: owner.APIVersion, Kind: owner.Kind, Resource: t.Resource,
			Namespace: t.Place(r.p.Ref.Namespace), Name: owner.Name, UID: string(owner.UID)}
		now, err := change.Object{Server: r.q.Client, Type: t, Ref: ref}.Read(ctx)
		because := ""
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case change.IsOver(err):
			because = err.Error()
		case err == nil && now.DeletionTimestamp != 0:
			because = "it is being deleted"
		}
		if because == "" {
			kept = append(kept, owner)
			continue
		}
		r.out.Skip(ref, "the object has no reference to this owner any more: "+because)
	}
	return kept, nil
}

// VolumeUnknown says that it is not known whether the volume of a claim can be bound to the new
// claim.
const VolumeUnknown unfinalize.Code = "VolumeUnknown"

// readVolume finds the PersistentVolume that a claim is bound to. It names the claim by its uid,
// and the new claim would stay Pending.
func (p *Planned) readVolume(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog) {
	if p.Ref.Group() != "" || p.Ref.Resource != cluster.PVCs.Resource {
		return
	}
	volumes, served := catalog.Lookup(cluster.PersistentVolumes)
	if !served {
		return
	}
	var err error
	p.volumes = volumes.Type
	if p.Volume, err = restore.BoundVolume(ctx, client, volumes.Type, p.Object); err != nil {
		p.refuse(VolumeUnknown, unfinalize.WithForce,
			"its volume cannot be read, and the new claim would stay Pending until somebody gives the volume its uid: "+
				err.Error(), "ask an administrator for the permission to get and patch persistentvolumes")
	}
}

// rebind gives the volume the uid of the new claim.
func (r *rescuer) rebind(ctx context.Context) error {
	if r.p.Volume == nil {
		return nil
	}
	action := plan.Write{Verb: restore.Rebind, Object: *r.p.Volume}
	if err := restore.RebindVolume(ctx, r.q.Client, r.p.volumes, *r.p.Volume, r.p.Ref.UID, r.p.Now.UID); err != nil {
		return r.failed(ctx, action, err, r.p.Volume.Quoted()+" was not bound to the new claim")
	}
	r.done(action)
	return nil
}
