package refusal

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// putBack is for a finalizer that is on the object again in the answer to the patch that removed it (API-033).
func (e *Examiner) putBack(ctx context.Context, w admission.Write, finalizer string) core.Finding {
	f := core.Finding{
		Code: core.FinalizerPutBack, Finalizer: finalizer,
		Evidence: core.Observed("the server answers a patch that removes it with an object that still has it"),
		Remedy:   "Find out which admission webhook or policy adds it, and exempt objects that are being deleted from it.",
	}
	all, unread := e.mutators(ctx, w)
	f.Evidence = append(f.Evidence, core.Observed(unread...)...)
	for _, m := range all {
		f.Evidence = append(f.Evidence, core.ObservedAt(core.From(m.config, ""), fmt.Sprintf("%s is called for %s", m.what, w))...)
	}
	if len(all) > 0 {
		f.Remedy = fmt.Sprintf("A mutating %s puts it back: exempt objects that are being deleted from it.", kindsOf(all))
		f.Commands = e.exemptions(all)
	}
	if len(all) == 1 {
		about := e.Ref(all[0].config)
		f.About = &about
	}
	return f
}
