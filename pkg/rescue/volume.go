package rescue

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

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
	action := Action{Verb: VerbRebind, Object: *r.p.Volume}
	if err := restore.RebindVolume(ctx, r.q.Client, r.p.volumes, *r.p.Volume, r.p.Ref.UID, r.p.Now.UID); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.out.Add(printed(action), err)
		return fmt.Errorf("%s was not bound to the new claim: %w", r.p.Volume.Quoted(), err)
	}
	r.done(action)
	return nil
}
