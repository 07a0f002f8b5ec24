package diagnose

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
)

// putBack is for a finalizer that is on the object again in the answer to the patch that removed it (API-033).
func (e *refusal) putBack(ctx context.Context, w admission.Write, finalizer string) finding {
	f := finding{
		code: FinalizerPutBack, finalizer: finalizer,
		evidence: observed("the server answers a patch that removes it with an object that still has it"),
		remedy:   "Find out which admission webhook or policy adds it, and exempt objects that are being deleted from it.",
	}
	all, unread := e.mutators(ctx, w)
	f.evidence = append(f.evidence, observed(unread...)...)
	for _, m := range all {
		f.evidence = append(f.evidence, observedAt(from(m.config, ""), fmt.Sprintf("%s is called for %s", m.what, w))...)
	}
	if len(all) > 0 {
		f.remedy = fmt.Sprintf("A mutating %s puts it back: exempt objects that are being deleted from it.", kindsOf(all))
		f.commands = e.exemptions(all)
	}
	if len(all) == 1 {
		about := e.ref(all[0].config)
		f.about = &about
	}
	return f
}
