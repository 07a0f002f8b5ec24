package finalizers

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
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
func (e *Examiner) lacks(ctx context.Context, o *unstructured.Unstructured, a actor.Actor) []lack {
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
func (e *Examiner) needed(ctx context.Context, o *unstructured.Unstructured, a actor.Actor) []lack {
	var all []lack
	for _, n := range e.Actors.Needed(ctx, o, a) {
		ref := core.RefTo(n.Type, n.Namespace, n.Name)
		if !e.Absent(ctx, n.Type, ref) {
			continue
		}
		says := fmt.Sprintf("%s needs %s, which does not exist", core.Whoever(a), core.Named(ref))
		all = append(all, lack{ref, append(core.ObservedAt(core.From(n.NamedBy, n.Field), says), e.Failing(o)...), true})
	}
	return all
}

// dependencyMissing is for an object that the actor needs and that is gone.
func (e *Examiner) dependencyMissing(ctx context.Context, o *unstructured.Unstructured, a actor.Actor, l lack) core.Finding {
	f := core.Finding{Code: core.DependencyMissing, About: &l.object, Actor: a.Who, Evidence: l.evidence, Cost: core.Cost(a)}
	f.Args = []string{"{object}", core.Named(l.object)}
	if a.IsKnown {
		f.Args = append(f.Args, "{then}", " "+phrase.Sentence(a.Known.OnCompletion()))
	}
	// The name is what another object says; one that no server accepts could be an option.
	if l.object.Kind == "ServiceAccount" && l.object.Namespace != "" && len(validation.IsDNS1123Subdomain(l.object.Name)) == 0 {
		f.Commands = append(f.Commands, core.FixedCommand("kubectl", "create", "serviceaccount", l.object.Name, "-n", l.object.Namespace).
			Doing("creates the ServiceAccount again; what is bound to its name applies to it").Risking(finalizer.RiskNone).CreatingIn(l.object.Namespace))
	}
	f.Commands = append(f.Commands,
		core.At(e.Ref(o), core.Command("kubectl", "describe", "OBJECT")).Doing("shows what the object refers to").Risking(finalizer.RiskNone), e.ByHand(o, a))
	return e.Possible(ctx, f, core.Creation{What: core.Named(l.object), Namespace: l.object.Namespace, Left: "The remaining option is to remove the finalizer by hand."})
}

// lacking is for what the actor needs and what is gone.
func (e *Examiner) lacking(ctx context.Context, q *question) []core.Finding {
	var all []core.Finding
	for _, l := range e.lacks(ctx, q.o, q.a) {
		all = append(all, e.dependencyMissing(ctx, q.o, q.a, l))
		q.proven = q.proven || l.proven
	}
	return all
}
