package collect

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// held is what a watch asks of a store about what events have shown before.
type held interface {
	// Lookup returns an object by its uid; see cluster.Store.
	Lookup(uid, kind string) (graph.Type, graph.Object, bool)
	// Referenced says whether an object names an owner with the uid.
	Referenced(uid string) bool
}

// touched returns the uids of the objects that an event of an object gives work to (GC-023 to
// GC-027): the object itself, and owners of it that wait for their dependents. Most events give
// none: a status changes, or an object is created whose owners are all there.
func touched(c cluster.Change, known held) []string {
	o, before := c.Object, c.Before
	var due []string
	if !c.Gone && !unlike(o, before) {
		return nil
	}
	switch {
	case c.Gone:
		if known.Referenced(o.UID) || absentOwner(o, known) { // a pass may have been refused for its owner loss
			due = append(due, o.UID)
		}
	case before != nil, waiting(o) != "", known.Referenced(o.UID), !owned(c.ResumePoint.Type, o, known):
		due = append(due, o.UID)
	}
	owners := o.Owners
	if before != nil {
		owners = slices.Concat(owners, before.Owners)
	}
	for _, r := range owners {
		if _, owner, there := known.Lookup(r.UID, r.Kind); there && owner.DeletionTimestamp != 0 &&
			!slices.Contains(due, r.UID) {
			due = append(due, r.UID)
		}
	}
	return due
}

// unlike says whether an object is not what the collector took it for. Before is nil for one that
// is new.
func unlike(o, before *graph.Object) bool {
	return before == nil || waiting(o) != waiting(before) || o.Selected != before.Selected ||
		!slices.Equal(o.Owners, before.Owners)
}

// waiting returns the finalizer of the collector because of which an object that is being deleted
// waits for its dependents; empty for all others.
func waiting(o *graph.Object) string {
	if o.DeletionTimestamp == 0 {
		return ""
	}
	for _, f := range []string{plan.OrphanFinalizer, plan.ForegroundFinalizer} {
		if slices.Contains(o.Finalizers, f) {
			return f
		}
	}
	return ""
}

// absentOwner says whether an object has an owner that is not held.
func absentOwner(o *graph.Object, known held) bool {
	return slices.ContainsFunc(o.Owners, func(r graph.OwnerReference) bool {
		_, _, there := known.Lookup(r.UID, r.Kind)
		return !there
	})
}

// owned says whether all owners of an object are there, under the names that the references have,
// and are not being deleted. It is so of an object without references.
func owned(t graph.Type, o *graph.Object, known held) bool {
	for _, r := range o.Owners {
		of, owner, there := known.Lookup(r.UID, r.Kind)
		switch {
		case !there, owner.DeletionTimestamp != 0, owner.Name != r.Name, of.Kind != r.Kind,
			of.Group != (graph.Ref{APIVersion: r.APIVersion}).Group(),
			of.Namespaced && (!t.Namespaced || owner.Namespace != o.Namespace):
			return false
		}
	}
	return true
}
