package diagnose

import (
	"context"
	"fmt"
)

// putBack is for a finalizer that is on the object again in the answer to the patch that took it off (API-033).
func (e *examiner) putBack(ctx context.Context, w write, finalizer string) finding {
	f := finding{
		code: FinalizerPutBack, finalizer: finalizer,
		evidence: observed("the server answers a patch that takes it off with an object that has it"),
		remedy:   "Find out which admission webhook or policy adds it, and exempt objects that are being deleted from it.",
	}
	hooks, unread := e.mutators(ctx, w)
	f.evidence = append(f.evidence, observed(unread...)...)
	for _, h := range hooks {
		f.evidence = append(f.evidence, observed(fmt.Sprintf("%s is called for %s", h.what(), w.words()))...)
	}
	if len(hooks) > 0 {
		f.remedy = "A mutating webhook puts it back: exempt objects that are being deleted from it."
		f.commands = exemptions(e, hooks)
	}
	if len(hooks) == 1 {
		about := e.ref(hooks[0].config)
		f.about = &about
	}
	return f
}
