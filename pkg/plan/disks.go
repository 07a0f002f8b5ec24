package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Idle is a finalizer that a deletion waits for and whose actor does not run.
type Idle struct {
	// Object is one of those that carry it.
	Object    graph.ID
	Finalizer string
	// Actor names who removes it, and Because says by what it is known that it does not run, in
	// clauses.
	Actor   string
	Because []string
}

// PVCs returns the PersistentVolumeClaims that are deleted, sorted: with each a disk can be
// destroyed.
func (p *Plan) PVCs() []graph.ID { return p.DeletedOf("", "persistentvolumeclaims") }

// Volumes returns the PersistentVolumes that are deleted, sorted.
func (p *Plan) Volumes() []graph.ID { return p.DeletedOf("", "persistentvolumes") }

// learnData adds what is destroyed, and what is not known of that.
func (p *Plan) learnData(f Details) {
	p.Disks = f.Disks
	p.UnreadDisks = slices.Sorted(slices.Values(f.UnreadDisks))
	p.Idle, p.Abandoned, p.Unserved = f.Idle, f.Abandoned, f.Unserved
	p.Spared, p.Decided = f.Spared, f.Decided
	p.UnreadSpared = slices.Sorted(slices.Values(f.UnreadSpared))
}
