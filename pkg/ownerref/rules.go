package ownerref

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Flags are those of a reference; nil leaves what is there, and is false for a reference that is
// new.
type Flags struct{ Controller, Block *bool }

// Pair is an object and the owner that it is to have, as live reads have shown them.
type Pair struct {
	ChildType, OwnerType graph.Type
	Child, Owner         *graph.Object
	Flags                Flags
}

// Check says why an object may not have the owner; nil if it may. It is pure. A cycle by way of
// other owners takes reads, and is not looked for.
func (p Pair) Check() error {
	if err := checkTypes(p.ChildType, p.OwnerType); err != nil {
		return err
	}
	switch {
	case p.Child.UID == p.Owner.UID:
		return errors.New("an object cannot own itself: the collector would never delete it") // GC-064
	case p.OwnerType.Namespaced && p.Child.Namespace != p.Owner.Namespace:
		// GC-047
		return fmt.Errorf("the owner is in namespace %s, and the collector looks for it in that of the dependent, %s",
			p.Owner.Namespace, p.Child.Namespace)
	case p.Child.DeletionTimestamp != 0:
		return errors.New("it is being deleted")
	case p.Owner.DeletionTimestamp != 0:
		return errors.New("the owner is being deleted, and the object would be deleted with it")
	}
	if r, ok := p.existing(); ok &&
		(r.Kind != p.OwnerType.Kind || groupOf(r) != p.OwnerType.Group || r.Name != p.Owner.Name) {
		return fmt.Errorf("it has a reference with the uid of the owner that names %s: correct that with kubectl gc check",
			Name(r))
	}
	if p.Flags.Controller != nil && *p.Flags.Controller {
		for _, r := range p.Child.Owners {
			if r.Controller && r.UID != p.Owner.UID {
				// API-034
				return fmt.Errorf(
					"%s is its controller already, and the server accepts one only: omit --controller, or disown that first", Name(r))
			}
		}
	}
	return nil
}

// checkTypes says why no object of a type may have an owner of another; nil if it may.
func checkTypes(child, owner graph.Type) error {
	switch {
	case owner.Namespaced && !child.Namespaced:
		return errors.New("it is cluster-scoped and the owner is namespaced: the collector would never act on it") // GC-048
	case owner.Group == "" && owner.Kind == "Event":
		return errors.New("the server accepts no Event as an owner") // API-034
	}
	return nil
}

func groupOf(r graph.OwnerReference) string { return graph.Ref{APIVersion: r.APIVersion}.Group() }

// existing is the first reference to the owner that there is.
func (p Pair) existing() (graph.OwnerReference, bool) {
	i := slices.IndexFunc(p.Child.Owners, func(r graph.OwnerReference) bool { return r.UID == p.Owner.UID })
	if i < 0 {
		return graph.OwnerReference{}, false
	}
	return p.Child.Owners[i], true
}

// wanted is the reference that the object is to have.
func (p Pair) wanted() graph.OwnerReference {
	r, ok := p.existing()
	if !ok {
		r = graph.OwnerReference{APIVersion: p.OwnerType.APIVersion(), Kind: p.OwnerType.Kind, Name: p.Owner.Name,
			UID: p.Owner.UID}
	}
	if p.Flags.Controller != nil {
		r.Controller = *p.Flags.Controller
	}
	if p.Flags.Block != nil {
		r.Block = *p.Flags.Block
	}
	return r
}

// End is what becomes of an object that has lost references.
type End uint8

// The ends.
const (
	// Kept: another owner is alive, or the collector never acts on the object.
	Kept End = iota
	// Unowned: it has no owner left, so that the collector does not delete it.
	Unowned
	// Collected: all owners that are left are absent or wait for it, and the collector deletes it.
	Collected
	// Doubtful: an owner that is left could not be read. If it is absent, the collector deletes the
	// object.
	Doubtful
)

// EndOf says what the collector does about an object that is left with some owners. It is pure. An
// owner that is going to orphan the object is as good as removed (GC-067).
func EndOf(deleting bool, owners []Owner) End {
	owners = slices.DeleteFunc(slices.Clone(owners), func(o Owner) bool { return o.State == plan.Orphaning })
	unread, never := false, false
	for _, o := range owners {
		// also if its kind is not served: discovery can fail, and the collector resolves kinds in
		// lower case
		unread = unread || o.State == plan.Unknown
		never = never || o.State == plan.BadScope
		if o.State == plan.Solid {
			return Kept
		}
	}
	switch {
	case deleting, never:
		return Kept
	case len(owners) == 0:
		return Unowned
	case unread:
		return Doubtful
	}
	return Collected
}
