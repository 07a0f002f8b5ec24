package storage

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// DataFirst puts in front of everything that cures an object the steps that keep the data which are
// destroyed when it is gone: those of the volumes, at the finding that comes first, those of the
// PVCs that an actor deletes, and those that a pack knows of a finalizer.
func (e *Examiner) DataFirst(ctx context.Context, id graph.ID, findings []core.Finding) []core.Finding {
	findings = slices.Clone(findings)
	for i, f := range findings {
		findings[i].Commands = e.notRetained(ctx, f.Object(), append(f.Without(e.protects(f)), f.Commands...))
	}
	if len(findings) == 0 || e.Graph.DeletionTimestamp(id) == 0 {
		return findings
	}
	disks, unread := e.disks(ctx, id)
	first := &findings[foremost(findings)]
	if len(disks) > 0 {
		first.Commands = append(retain(disks), first.Commands...)
		first.Evidence = append(destroyed(disks), first.Evidence...)
		first.Cost = strings.TrimSpace(lost(disks) + " " + first.Cost)
		for i := range findings {
			findings[i].DataLoss = true
		}
	}
	if len(disks)+len(unread) > 0 { // which unfinalize refuses to let go otherwise
		for i, f := range findings {
			for j, s := range f.Commands {
				findings[i].Commands[j] = s.Forced()
			}
		}
	}
	first.Evidence = append(first.Evidence, unread...)
	for i := range findings {
		findings[i] = e.pvcsFirst(ctx, findings[i], disks)
	}
	return findings
}

// foremost is the finding that is printed first.
func foremost(findings []core.Finding) int {
	at := 0
	for i := range findings {
		if core.InOrder(findings[i], findings[at]) < 0 {
			at = i
		}
	}
	return at
}

// protects are the steps that a pack knows to take before the data behind an object are destroyed.
func (e *Examiner) protects(f core.Finding) []core.Step {
	o := f.Object()
	known, ok := e.Registry.Lookup(f.Finalizer, o.Group(), o.Kind)
	if !ok || known.Fallback {
		return nil
	}
	var steps []core.Step
	for _, s := range known.Protect {
		if f.Code == core.InUse && !strings.Contains(s.Command, "{") {
			continue // it is not about this object, of which is known what is in the way
		}
		steps = append(steps, core.Protecting(s))
	}
	return steps
}

// notRetained leaves out the steps that keep the disk of a volume that is kept anyway.
func (e *Examiner) notRetained(ctx context.Context, o v1alpha1.ObjectRef, steps []core.Step) []core.Step {
	if !core.OfType(cluster.PersistentVolumes)(o) {
		return steps
	}
	volume, err := e.Reader.Volume(ctx, o)
	if err != nil || volume == nil || status.Disk(volume).Destroyed() {
		return steps
	}
	return slices.DeleteFunc(steps, func(s core.Step) bool { return strings.Contains(s.Write(o), status.Retaining) })
}

// disks are the volumes whose data are destroyed when an object is gone. What could not be read is
// said.
func (e *Examiner) disks(ctx context.Context, id graph.ID) ([]v1alpha1.Disk, []v1alpha1.Observation) {
	ref := e.Graph.Ref(id)
	if core.OfType(cluster.PersistentVolumes)(ref) {
		return e.itself(ctx, ref)
	}
	pvcs := e.Graph.Refs(e.pvcsOf(id))
	if len(pvcs) == 0 {
		return nil, nil
	}
	expected := 0
	if e.Many {
		expected = core.MaxByName
	}
	disks, failed := e.behindClaims(ctx, pvcs, expected)
	for _, claim := range pvcs {
		if err := failed[claim.UID]; err != nil {
			return disks, core.Seen("whether the data behind %s are destroyed is not known: %v",
				phrase.Count(len(failed), "PersistentVolumeClaim"), err)
		}
	}
	return disks, nil
}

// behindClaims are the volumes whose data are destroyed with PVCs, and why some could not be read,
// by the uid of the PVC.
func (e *Examiner) behindClaims(ctx context.Context, pvcs []graph.Ref, expected int) (disks []v1alpha1.Disk,
	failed map[string]error) {
	bound, failed := e.Reader.Volumes(ctx, pvcs, expected)
	for _, claim := range pvcs {
		if volume := bound[claim.UID]; volume != nil && status.Disk(volume).Destroyed() {
			disks = append(disks, status.Disk(volume))
		}
	}
	return disks, failed
}

// itself is a volume that is being deleted: who looks after it destroys the data when it is
// released.
func (e *Examiner) itself(ctx context.Context, ref graph.Ref) ([]v1alpha1.Disk, []v1alpha1.Observation) {
	volume, err := e.Reader.Volume(ctx, ref)
	switch {
	case err != nil:
		return nil, core.Seen("whether the data of PersistentVolume %s are destroyed is not known: %v", ref.Name, err)
	case volume == nil || !status.Disk(volume).Destroyed():
		return nil, nil
	}
	return []v1alpha1.Disk{status.Disk(volume)}, nil
}

// pvcsOf are the PVCs that are deleted with an object: itself, what is in a namespace, and what has
// no other owner.
func (e *Examiner) pvcsOf(id graph.ID) []graph.ID {
	ref := e.Graph.Ref(id)
	if core.OfType(cluster.Namespaces)(ref) {
		return slices.Collect(e.Graph.OfType(cluster.PVCs.Group, cluster.PVCs.Resource, ref.Name))
	}
	var pvcs []graph.ID
	reached := map[graph.ID]bool{id: true}
	for next := []graph.ID{id}; len(next) > 0; next = next[1:] {
		if core.OfType(cluster.PVCs)(e.Graph.Ref(next[0])) {
			pvcs = append(pvcs, next[0])
		}
		for edge := range e.Graph.Dependents(next[0]) {
			if d := edge.Dependent; !reached[d] && !e.kept(d, reached) {
				reached[d] = true
				next = append(next, d)
			}
		}
	}
	return pvcs
}

// kept reports whether an object has an owner that stays.
func (e *Examiner) kept(id graph.ID, reached map[graph.ID]bool) bool {
	for edge := range e.Graph.Owners(id) {
		if !reached[edge.Owner] && e.Graph.Observed(edge.Owner) && e.Graph.DeletionTimestamp(edge.Owner) == 0 {
			return true
		}
	}
	return false
}

// pvcsFirst puts in front of a finding the steps that keep the disks of the PVCs that the actor
// deletes before it removes the finalizer, but for those that are spoken of already. Removing the
// finalizer by hand does not delete the PVCs, so that the cost of that stays what it is.
func (e *Examiner) pvcsFirst(ctx context.Context, f core.Finding, but []v1alpha1.Disk) core.Finding {
	pvcs, err := e.pvcsDeleted(ctx, f)
	if err != nil {
		f.Observe("whether claims are deleted with it is not known: %v", err)
		return f
	}
	refs := make([]graph.Ref, len(pvcs))
	for i, claim := range pvcs {
		refs[i] = e.Ref(claim)
	}
	disks, failed := e.behindClaims(ctx, refs, 0)
	for _, claim := range refs {
		if err := failed[claim.UID]; err != nil {
			f.Observe("whether the data behind PersistentVolumeClaim %s are destroyed is not known: %v", claim.Name, err)
		}
	}
	disks = slices.DeleteFunc(disks, func(disk v1alpha1.Disk) bool {
		return slices.ContainsFunc(but, func(d v1alpha1.Disk) bool { return d.Volume.Name == disk.Volume.Name })
	})
	if len(disks) == 0 {
		return f
	}
	who := cmp.Or(f.Actor, "whoever removes the finalizer")
	f.Evidence = slices.Concat(core.Observed(who+" deletes the claims of the disks before it removes the finalizer"),
		destroyed(disks), f.Evidence)
	f.Commands = append(f.Without(retain(disks)), f.Commands...)
	f.DataLoss = true
	return f
}

// pvcsDeleted are the PVCs that the actor of a finalizer deletes, by the selector of its pack.
func (e *Examiner) pvcsDeleted(ctx context.Context, f core.Finding) ([]*unstructured.Unstructured, error) {
	ref := f.Object()
	known, ok := e.Registry.Lookup(f.Finalizer, ref.Group(), ref.Kind)
	if !ok || known.PVCs == "" || ref.Namespace == "" {
		return nil, nil
	}
	o, err := e.Reader.GetObject(ctx, ref.GroupResource(), ref.Namespace, ref.Name)
	if o == nil || err != nil {
		return nil, err
	}
	selector, unfilled := known.Fill(known.PVCs, actor.Fields(o, f.Finalizer))
	if len(unfilled) > 0 {
		return nil, nil // it would select those of others
	}
	return e.Reader.ListObjects(ctx, cluster.PVCs, ref.Namespace, cluster.Selection{Labels: selector})
}
