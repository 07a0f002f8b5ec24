package plan

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// InUse is a finalizer that a deletion waits for, and that keeps the object while others use it.
type InUse struct {
	Object    graph.ID
	Finalizer string
	// Users are objects that use the object and are not deleted with it.
	Users []graph.Ref
}

// PVCs returns the PersistentVolumeClaims that are deleted, sorted: with each a disk can be
// destroyed.
func (p *Plan) PVCs() []graph.ID { return p.DeletedOf("", "persistentvolumeclaims") }

// Volumes returns the PersistentVolumes that are deleted, sorted.
func (p *Plan) Volumes() []graph.ID { return p.DeletedOf("", "persistentvolumes") }
