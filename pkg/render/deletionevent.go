package render

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
)

// tellEach is up to how many objects each is told of when it is gone; of a larger cascade only
// those that were named are.
const tellEach = 60

// Event prints what happened to an object.
func (v *DeletionView) Event(e act.Event) {
	v.Done()
	switch v.lines {
	case NameLines:
		if e.Type == act.Deleting {
			fmt.Fprintln(v.out, TypeName(e.Object))
		}
		return
	case GoneLines:
		if e.Type == act.Gone {
			fmt.Fprintln(v.out, TypeName(e.Object))
		}
		return
	case NoLines:
		return
	}
	switch e.Type {
	case act.Deleting:
		fmt.Fprintf(v.out, "deleting %s\n", Quoted(e.Object))
	case act.Gone:
		if v.each || v.roots[e.Object.UID] {
			fmt.Fprintln(v.out, DeletedFrom(e.Object))
		}
	case act.Kept:
		fmt.Fprintf(v.errOut, "Warning: %s is kept: its references to the deleted owners were removed meanwhile\n",
			Quoted(e.Object))
	case act.Ungraceful:
		fmt.Fprintf(
			v.errOut, "Warning: %s is being deleted with its own grace period of %ds, which cannot be lengthened; --gc=client deletes dependents with the requested one\n",
			Quoted(e.Object), e.GracePeriodSeconds)
	case act.Unobserved:
		fmt.Fprintf(v.errOut, "Warning: the controller of %s has not observed its deletion; it may adopt the orphans again\n",
			Quoted(e.Object))
	case act.Skipped:
		fmt.Fprintf(v.errOut, "Warning: %s was not deleted: %s\n", Quoted(e.Object), Escape(e.Err.Error()))
	}
}

// Collected prints a write that does the collector's part. With a wait it is not needed: what is
// gone is told then.
func (v *DeletionView) Collected(e collect.Event) {
	if e.Err == nil && v.lines == EventLines {
		fmt.Fprintln(v.out, ActionLine(e.Action))
	}
}
