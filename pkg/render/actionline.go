package render

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// ActionLine words one write as kubectl would, with the reason.
func ActionLine(a collect.Action) string {
	because := a.Because.Sentence(a.Cause)
	object := Quoted(a.Object)
	switch a.Verb {
	case plan.VerbDelete:
		line := DeletedFrom(a.Object)
		if len(a.RemainingFinalizers) > 0 {
			line = object + " is being deleted"
		}
		if a.Policy != plan.Background {
			line += " (" + strings.ToLower(string(a.Policy)) + ")"
		}
		return line + ": " + because
	case plan.VerbOrphan:
		return fmt.Sprintf("%s: %s removed: %s", object, phrase.Count(len(a.Owners), "owner reference"), because)
	case plan.VerbUnblock:
		return fmt.Sprintf("%s: blockOwnerDeletion set to false on %s: %s", object, phrase.Count(len(a.Owners), "reference"),
			because)
	case plan.VerbRemoveFinalizer:
		return fmt.Sprintf("%s: finalizer %s removed: %s", object, Escape(a.Finalizer), because)
	}
	return fmt.Sprintf("%s: %s", object, a.Verb)
}
