// Package finalizers finds out why whoever removes a finalizer has not done so.
package finalizers

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/refusal"
)

// Examiner says why whoever removes a finalizer has not done so.
type Examiner struct {
	*core.Examination
	refusal *refusal.Examiner
}

// New returns an examiner of an examination.
func New(c *core.Examination, r *refusal.Examiner) *Examiner { return &Examiner{c, r} }

// Because returns why a finalizer is still on an object that was read whole: that its parent is gone, what its actor lacks, what uses the object, and who
// the actor is. An actor that lives is no cause of its own where it is proven what it waits for.
func (e *Examiner) Because(ctx context.Context, o *unstructured.Unstructured, name string, refused []core.Finding) []core.Finding {
	by := e.Actor(ctx, o, name, refused)
	a, err := e.Actors.Of(ctx, o, name)
	if err != nil {
		return by // the context has ended
	}
	if f, orphaned := e.orphaned(ctx, o, a); orphaned {
		return append(core.Taken([]core.Finding{f}, by), refused...)
	}
	var own []core.Finding
	proven := false
	if len(refused) == 0 && o.GetDeletionTimestamp() != nil {
		not, suspects := e.refusal.RefusedToActor(ctx, o, a)
		own, proven = not, len(not) > 0
		by = core.WithEvidenceBehind(by, suspects...)
		for _, f := range e.refusal.QuotedDenials(ctx, o) {
			if !refusal.Blamed(own, *f.About) {
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
	return core.Awaited(own, by)
}
