package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// InUse is a finalizer that a deletion waits for, and that keeps the object while others use it.
type InUse struct {
	Object    graph.ID
	Finalizer string
	// Users are objects that use the object and are not deleted with it.
	Users []graph.Ref
}

// PVCs returns the PersistentVolumeClaims that are deleted, sorted: with each a disk can be
// destroyed.
func (p *Plan) PVCs() []graph.ID { return p.going("persistentvolumeclaims") }

// Volumes returns the PersistentVolumes that are deleted, sorted.
func (p *Plan) Volumes() []graph.ID { return p.going("persistentvolumes") }

// going returns the objects of a core type that are deleted; of a run also those whose deletion
// begins, since the finalizers that protect data while they are in use go by themselves.
func (p *Plan) going(resource string) []graph.ID {
	ids := p.DeletedOf("", resource)
	if p.options.Rules != Loop {
		return ids
	}
	for _, a := range p.Actions {
		if r := p.Graph.Ref(a.Object); a.Verb == VerbDelete && r.Resource == resource && r.Group() == "" {
			ids = append(ids, a.Object)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
