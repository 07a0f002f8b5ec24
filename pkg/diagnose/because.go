package diagnose

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// finalizers says why whoever removes a finalizer has not done so.
type finalizers struct {
	*core
	refusal *refusal
}

// because returns why a finalizer is still on an object that was read whole: that its parent is gone, what its actor lacks, what uses the object, and who
// the actor is. An actor that lives is no cause of its own where it is proven what it waits for.
func (e *finalizers) because(ctx context.Context, o *unstructured.Unstructured, name string, refused []finding) []finding {
	by := e.actor(ctx, o, name, refused)
	a, err := e.actors.Of(ctx, o, name)
	if err != nil {
		return by // the context has ended
	}
	if f, orphaned := e.orphaned(ctx, o, a); orphaned {
		return append(taken([]finding{f}, by), refused...)
	}
	var own []finding
	proven := false
	if len(refused) == 0 && o.GetDeletionTimestamp() != nil {
		not, suspects := e.refusal.refusedToActor(ctx, o, a)
		own, proven = not, len(not) > 0
		by = withEvidenceBehind(by, suspects)
		for _, f := range e.refusal.quotedDenials(ctx, o) {
			if !blamed(own, *f.about) {
				own = append(own, f)
			}
		}
	}
	for _, l := range e.lacks(ctx, o, a) {
		own = append(own, e.dependencyMissing(ctx, o, a, l))
		proven = proven || l.proven
	}
	if f, used := e.used(ctx, o, a); used {
		own, proven = append(own, f), true
	}
	if said, used := e.saysInUse(o, a); used && !proven {
		own, proven = append(own, said), true
	}
	if !proven {
		return append(own, by...)
	}
	return awaited(own, by)
}
