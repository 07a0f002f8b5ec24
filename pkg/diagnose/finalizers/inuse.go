package finalizers

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// saysInUse is for an object whose own conditions say that others use it, so that it is not deleted.
func (e *Examiner) saysInUse(o *unstructured.Unstructured, a actor.Actor) (core.Finding, bool) {
	if o.GetDeletionTimestamp() == nil {
		return core.Finding{}, false
	}
	for _, c := range status.Conditions(o) {
		if !c.InUse() {
			continue
		}
		f := core.Finding{
			Code: core.InUse, Finalizer: a.Finalizer, Actor: a.Who, Cost: core.Cost(a), Evidence: core.ObservedAt(core.From(o, c.Field), e.Quoted(c)),
			Remedy: phrase.Sentence("delete what condition " + c.Type + " names first: then " + core.Whoever(a) + " removes the finalizer"),
		}
		f.Commands = []core.Step{core.Describe().Doing("shows what uses it").Risking(finalizer.RiskNone), e.ByHand(o, a)}
		return f, true
	}
	return core.Finding{}, false
}
