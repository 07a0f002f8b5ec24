package storage

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// pvcsFirst puts in front of a finding the steps that keep the disks of the PVCs that the actor deletes before it removes the finalizer, but for those that
// are spoken of already. Removing the finalizer by hand does not delete the PVCs, so that the cost of that stays what it is.
func (e *Examiner) pvcsFirst(ctx context.Context, f core.Finding, but []v1alpha1.Disk) core.Finding {
	pvcs, err := e.pvcsDeleted(ctx, f)
	if err != nil {
		f.Evidence = append(f.Evidence, core.Observed(fmt.Sprintf("whether claims are deleted with it is not known: %v", err))...)
		return f
	}
	refs := make([]graph.Ref, len(pvcs))
	for i, claim := range pvcs {
		refs[i] = graph.Ref(e.Ref(claim))
	}
	bound, failed := e.Reader.Volumes(ctx, refs, 0)
	var disks []v1alpha1.Disk
	for _, claim := range refs {
		if err := failed[claim.UID]; err != nil {
			f.Evidence = append(f.Evidence, core.Observed(fmt.Sprintf("whether the data behind PersistentVolumeClaim %s are destroyed is not known: %v", claim.Name, err))...)
			continue
		}
		volume := bound[claim.UID]
		if volume == nil || slices.ContainsFunc(but, func(d v1alpha1.Disk) bool { return d.Volume.Name == volume.GetName() }) {
			continue
		}
		if disk := status.Disk(volume); disk.Destroyed() {
			disks = append(disks, disk)
		}
	}
	if len(disks) == 0 {
		return f
	}
	who := f.Actor
	if who == "" {
		who = "whoever removes the finalizer"
	}
	f.Evidence = slices.Concat(core.Observed(who+" deletes the claims of the disks before it removes the finalizer"), destroyed(disks), f.Evidence)
	f.Commands = append(without(retain(disks), f), f.Commands...)
	f.DataLoss = true
	return f
}

// pvcsDeleted are the PVCs that the actor of a finalizer deletes, by the selector of its pack.
func (e *Examiner) pvcsDeleted(ctx context.Context, f core.Finding) ([]*unstructured.Unstructured, error) {
	ref := f.Object()
	known, ok := e.Registry.Lookup(f.Finalizer, graph.Ref(ref).Group(), ref.Kind)
	if !ok || known.PVCs == "" || ref.Namespace == "" {
		return nil, nil
	}
	o, err := e.Reader.GetObject(ctx, schema.GroupResource{Group: graph.Ref(ref).Group(), Resource: ref.Resource}, ref.Namespace, ref.Name)
	if o == nil || err != nil {
		return nil, err
	}
	selector, unfilled := known.Fill(known.PVCs, actor.Fields(o, f.Finalizer))
	if len(unfilled) > 0 {
		return nil, nil // it would select those of others
	}
	return e.Reader.ListObjects(ctx, cluster.PVCs, ref.Namespace, cluster.Selection{Labels: selector})
}
