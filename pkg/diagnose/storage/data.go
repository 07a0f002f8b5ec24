package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// DataFirst puts in front of everything that cures an object the steps that keep the data which are destroyed when it is gone: those of the volumes, at the
// finding that comes first, those of the PVCs that an actor deletes, and those that a pack knows of a finalizer.
func (e *Examiner) DataFirst(ctx context.Context, id graph.ID, findings []core.Finding) []core.Finding {
	findings = slices.Clone(findings)
	for i, f := range findings {
		findings[i].Commands = e.notRetained(ctx, f.Object(), append(without(e.protects(f), f), f.Commands...))
	}
	if len(findings) == 0 || e.Graph.DeletionTimestamp(id) == 0 {
		return findings
	}
	disks, unread := e.disks(ctx, id)
	first := &findings[foremost(findings)]
	if len(disks) > 0 {
		first.Commands = append(retain(disks), first.Commands...)
		first.Evidence = append(destroyed(disks), first.Evidence...)
		first.Cost = sentences(lost(disks), first.Cost)
		for i := range findings {
			findings[i].DataLoss = true
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
	known, ok := e.Registry.Lookup(f.Finalizer, graph.Ref(o).Group(), o.Kind)
	if !ok || known.Fallback {
		return nil
	}
	var steps []core.Step
	for _, s := range known.Protect {
		if f.Code == core.InUse && !strings.Contains(s.Command, "{") {
			continue // it is not about this object, of which is known what is in the way
		}
		line := s.For(graph.Ref(o).QualifiedResource(), o.Namespace, o.Name)
		steps = append(steps, core.Step{Write: func(v1alpha1.ObjectRef) string { return line }}.Doing(s.Does).Risking(finalizer.RiskNone))
	}
	return steps
}

// notRetained leaves out the steps that keep the disk of a volume that is kept anyway.
func (e *Examiner) notRetained(ctx context.Context, o v1alpha1.ObjectRef, steps []core.Step) []core.Step {
	if !core.OfType(cluster.PersistentVolumes)(graph.Ref(o)) {
		return steps
	}
	volume, err := e.Reader.Volume(ctx, graph.Ref(o))
	if err != nil || volume == nil || status.Disk(volume).Destroyed() {
		return steps
	}
	return slices.DeleteFunc(steps, func(s core.Step) bool { return strings.Contains(s.Write(o), status.Retaining) })
}

// without leaves out the steps that a finding has already.
func without(steps []core.Step, f core.Finding) []core.Step {
	has := map[string]bool{}
	for _, s := range f.Commands {
		has[s.Write(f.Object())] = true
	}
	return slices.DeleteFunc(steps, func(s core.Step) bool { return has[s.Write(f.Object())] })
}

// disks are the volumes whose data are destroyed when an object is gone. What could not be read is said.
func (e *Examiner) disks(ctx context.Context, id graph.ID) ([]v1alpha1.Disk, []v1alpha1.Observation) {
	ref := e.Graph.Ref(id)
	if core.OfType(cluster.PersistentVolumes)(ref) {
		return e.itself(ctx, ref)
	}
	var pvcs []graph.Ref
	for _, claim := range e.pvcsOf(id) {
		pvcs = append(pvcs, e.Graph.Ref(claim))
	}
	if len(pvcs) == 0 {
		return nil, nil
	}
	expected := 0
	if e.Many {
		expected = core.MaxByName
	}
	bound, failed := e.Reader.Volumes(ctx, pvcs, expected)
	var disks []v1alpha1.Disk
	var unread []v1alpha1.Observation
	for _, claim := range pvcs {
		if volume := bound[claim.UID]; volume != nil && status.Disk(volume).Destroyed() {
			disks = append(disks, status.Disk(volume))
		}
		if err := failed[claim.UID]; err != nil && unread == nil {
			unread = core.Observed(fmt.Sprintf("whether the data behind %s are destroyed is not known: %v", phrase.Count(len(failed), "PersistentVolumeClaim"), err))
		}
	}
	return disks, unread
}

// itself is a volume that is being deleted: who looks after it destroys the data when it is released.
func (e *Examiner) itself(ctx context.Context, ref graph.Ref) ([]v1alpha1.Disk, []v1alpha1.Observation) {
	volume, err := e.Reader.Volume(ctx, ref)
	switch {
	case err != nil:
		return nil, core.Observed(fmt.Sprintf("whether the data of PersistentVolume %s are destroyed is not known: %v", ref.Name, err))
	case volume == nil || !status.Disk(volume).Destroyed():
		return nil, nil
	}
	return []v1alpha1.Disk{status.Disk(volume)}, nil
}

// pvcsOf are the PVCs that are deleted with an object: itself, what is in a namespace, and what has no other owner.
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

// kept says whether an object has an owner that stays.
func (e *Examiner) kept(id graph.ID, reached map[graph.ID]bool) bool {
	for edge := range e.Graph.Owners(id) {
		if !reached[edge.Owner] && e.Graph.Observed(edge.Owner) && e.Graph.DeletionTimestamp(edge.Owner) == 0 {
			return true
		}
	}
	return false
}
