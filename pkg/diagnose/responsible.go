package diagnose

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// others are the finalizers that are not the collector's own, nor that of a CustomResourceDefinition, whose instances are looked for one by one.
func others(finalizers []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool {
		return f == plan.ForegroundFinalizer || f == plan.OrphanFinalizer || f == link.CRDFinalizer
	})
}

// actor says who should remove a finalizer, and whether they can. What refuses the update is the cause where somebody would make it; where nobody is
// there to make it, or who is there ignores the object, that comes on top.
func (e *finalizers) actor(ctx context.Context, o *unstructured.Unstructured, name string, refused []finding) []finding {
	a, err := e.actors.Of(ctx, o, name)
	if err != nil {
		return nil // the context has ended
	}
	b := blameOf(o, a)
	f := finding{finalizer: name, actor: a.Who, evidence: slices.Concat(e.says(ctx, o), a.Evidence, observed(status.Outside(o)...)), cost: b.cost(), dataLoss: b.losesData()}
	if a.Life == actor.Alive {
		if ignored := e.ignored(ctx, b, f); len(ignored) > 0 {
			return append(ignored, refused...)
		}
		if len(refused) > 0 {
			return refused
		}
		return []finding{busy(b, f)}
	}
	down := e.downWorkloads(ctx, b)
	f.evidence = append(f.evidence, down.evidence...)
	f = e.alsoPaused(ctx, b, f)
	f.code = FinalizerActorUnknown
	switch {
	case a.Life == actor.Dead:
		f.code = FinalizerActorDead
	case a.NotFound():
		f.code = FinalizerActorNotFound
	}
	switch {
	case a.Life == actor.Dead || len(down.repairs)+len(down.steps) > 0:
		f = e.remedied(ctx, b, down, f)
	case b.outside():
		f = outside(b, f)
	default:
		f = e.unfound(ctx, b, f)
	}
	if a.Life == actor.Dead && !a.IsKnown {
		f.evidence = append(f.evidence, e.leads(ctx, o).Observations()...)
	}
	f.commands = b.ordered(f.commands)
	return append([]finding{f}, refused...)
}

// busy is for an actor that is at work, as far as anybody can see.
func busy(b blame, f finding) finding {
	f.code = FinalizerActorAlive
	f.remedy = phrase.Sentence(b.who+" is alive: let it finish, and check what it reports") + b.honoured()
	f.commands = b.ordered([]step{describe().doing("shows what its controller says of it").risking(finalizer.RiskNone)})
	return f
}

// outside is for an actor that nobody can see from here.
func outside(b blame, f finding) finding {
	f.remedy = phrase.Sentence(b.who+" normally runs outside the cluster: not seeing it here means nothing") + " " + phrase.Sentence("check there that it is running") + b.honoured()
	f.commands = append(f.commands, describe().doing("shows what its controller says of it").risking(finalizer.RiskNone))
	return f
}

// unfound is for an actor of which nobody knows whether it is there: the cluster is asked who may.
func (e *finalizers) unfound(ctx context.Context, b blame, f finding) finding {
	leads := e.leads(ctx, b.o)
	f.evidence = append(f.evidence, leads.Observations()...)
	only := leads.Only()
	switch {
	case only != nil:
		f.remedy = fmt.Sprintf("Look at %s %s/%s first: RBAC lets no other workload write objects of this type, but for administrators and Kubernetes itself.", only.GetKind(), only.GetNamespace(), only.GetName())
	case b.NotFound():
		f.remedy = phrase.Sentence("find out whether " + b.who + " was uninstalled, or runs under another name; if it was uninstalled, install it again and let it finish")
	case b.IsKnown:
		f.remedy = phrase.Sentence("check that " + b.who + " is running; its state is not visible through the API")
	default:
		f.remedy = "Find out which controller removes the finalizer, and check that it is running."
	}
	f.remedy += b.honoured()
	if only != nil {
		d := e.downLead(ctx, b, only)
		f.evidence, f.commands = append(f.evidence, d.evidence...), append(f.commands, d.steps...)
	}
	f.commands = append(f.commands, describe().doing("shows what its controller says of it").risking(finalizer.RiskNone))
	for _, w := range leads.Running(2) {
		f.commands = append(f.commands, at(e.ref(w), command("kubectl", "logs", "OBJECT")).doing("shows whether it works on the object").risking(finalizer.RiskNone))
	}
	return f
}

// leads are who may remove the finalizers of an object, by RBAC.
func (e *finalizers) leads(ctx context.Context, o *unstructured.Unstructured) actor.Permissions {
	leads, _ := e.actors.Permitted(ctx, o)
	return leads
}

// unread is for a finalizer of an object that could not be read.
func unread(name string, err error) finding {
	return finding{
		code: FinalizerActorUnknown, finalizer: name, evidence: observed(fmt.Sprintf("the object cannot be read: %v", err)),
		remedy: "Run the command again as a user who may read it.",
	}
}

// unexamined is for the first of the finalizers of an object that are too many to examine.
func unexamined(names []string) finding {
	return finding{
		code: FinalizerActorUnknown, finalizer: names[0],
		evidence: observed(fmt.Sprintf("it and %d more finalizers of the object were not examined", len(names)-1)),
		remedy:   "Run the command again when the finalizers before it are removed.",
	}
}
