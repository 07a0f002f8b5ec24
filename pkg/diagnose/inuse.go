package diagnose

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// saysInUse is for an object whose own conditions say that others use it, so that it is not deleted.
func (e *finalizers) saysInUse(o *unstructured.Unstructured, a actor.Actor) (finding, bool) {
	if o.GetDeletionTimestamp() == nil {
		return finding{}, false
	}
	for _, c := range status.Conditions(o) {
		if !c.InUse() {
			continue
		}
		f := finding{
			code: InUse, finalizer: a.Finalizer, actor: a.Who, cost: cost(a), evidence: observedAt(from(o, c.Field), e.quoted(c)),
			remedy: phrase.Sentence("delete what condition " + c.Type + " names first: then " + whoever(a) + " removes the finalizer"),
		}
		f.commands = []step{describe().doing("shows what uses it").risking(finalizer.RiskNone), e.byHand(o, a)}
		return f, true
	}
	return finding{}, false
}
