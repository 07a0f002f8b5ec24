package diagnose

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// lack is an object that somebody needs and that is proven to be absent.
type lack struct {
	object   v1alpha1.ObjectRef
	evidence []v1alpha1.Observation
	// proven says that the actor cannot do its work without it, and not only that a warning named it.
	proven bool
}

// lacks returns what is absent of what the actor of a finalizer needs: by what the object says, which is told first, and by its pack.
func (e *finalizers) lacks(ctx context.Context, o *unstructured.Unstructured, a actor.Actor) []lack {
	var all []lack
	at := map[v1alpha1.ObjectRef]int{}
	for _, l := range append(e.saidMissing(ctx, o), e.needed(ctx, o, a)...) {
		if i, known := at[l.object]; known {
			all[i].proven = all[i].proven || l.proven
			continue
		}
		at[l.object] = len(all)
		all = append(all, l)
	}
	return all
}

// needed returns what is absent of what a pack says that the actor needs.
func (e *finalizers) needed(ctx context.Context, o *unstructured.Unstructured, a actor.Actor) []lack {
	var all []lack
	for _, n := range e.actors.Needed(ctx, o, a) {
		ref := refTo(n.Type, n.Namespace, n.Name)
		if !e.absent(ctx, n.Type, ref) {
			continue
		}
		says := fmt.Sprintf("%s needs %s, which does not exist", whoever(a), named(ref))
		all = append(all, lack{ref, append(observedAt(from(n.NamedBy, n.Field), says), e.failing(o)...), true})
	}
	return all
}

// dependencyMissing is for an object that the actor needs and that is gone.
func (e *finalizers) dependencyMissing(ctx context.Context, o *unstructured.Unstructured, a actor.Actor, l lack) finding {
	f := finding{code: DependencyMissing, about: &l.object, actor: a.Who, evidence: l.evidence, cost: cost(a)}
	f.remedy = fmt.Sprintf("Create %s again, as it was: then %s can do its work and removes the finalizer.", named(l.object), whoever(a))
	if a.IsKnown {
		f.remedy += " " + phrase.Sentence(a.Known.OnCompletion())
	}
	// The name is what another object says; one that no server accepts could be an option.
	if l.object.Kind == "ServiceAccount" && l.object.Namespace != "" && len(validation.IsDNS1123Subdomain(l.object.Name)) == 0 {
		f.commands = append(f.commands, fixedCommand("kubectl", "create", "serviceaccount", l.object.Name, "-n", l.object.Namespace).
			doing("creates the ServiceAccount again; what is bound to its name applies to it").risking(finalizer.RiskNone).creatingIn(l.object.Namespace))
	}
	f.commands = append(f.commands,
		at(e.ref(o), command("kubectl", "describe", "OBJECT")).doing("shows what the object refers to").risking(finalizer.RiskNone), e.byHand(o, a))
	return e.possible(ctx, f, creation{what: named(l.object), namespace: l.object.Namespace, left: "The remaining option is to remove the finalizer by hand."})
}
