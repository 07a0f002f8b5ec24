package finalizers

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Actor says who should remove a finalizer, and whether they can. What refuses the update is the
// cause where somebody would make it; where nobody is there to make it, or who is there ignores the
// object, that comes on top.
func (e *Examiner) Actor(ctx context.Context, o *unstructured.Unstructured, name string,
	refused []core.Finding) []core.Finding {
	a, err := e.Actors.WithUsers(ctx, o, name)
	if err != nil {
		return nil // the context has ended
	}
	b := core.ResponsibleFor(o, a)
	f := core.Finding{
		Finalizer: name, Actor: a.Who, Args: []string{"{then}", b.OnceRunning()}, Cost: b.Cost(), DataLoss: b.LosesData(),
		Evidence: slices.Concat(e.Says(ctx, o), a.Evidence, core.Observed(status.Outside(o)...)),
	}
	if a.Life == actor.Alive {
		if ignored := e.ignored(ctx, b, f); len(ignored) > 0 {
			return append(ignored, refused...)
		}
		if len(refused) > 0 {
			return refused
		}
		return []core.Finding{busy(b, f)}
	}
	down := e.DownWorkloads(ctx, b)
	f.Evidence = append(f.Evidence, down.Evidence...)
	f = e.alsoPaused(ctx, b, f)
	f.Code = core.FinalizerActorUnknown
	switch {
	case a.Life == actor.Dead:
		f.Code = core.FinalizerActorDead
	case a.NotFound():
		f.Code = core.FinalizerActorNotFound
	}
	switch {
	case a.Life == actor.Dead || len(down.Repairs)+len(down.Steps) > 0:
		f = e.remedied(ctx, b, down, f)
	case b.RunsOutside():
		f = outside(b, f)
	default:
		f = e.unfound(ctx, b, f)
	}
	if a.Life == actor.Dead && !a.IsKnown {
		f.Evidence = append(f.Evidence, e.leads(ctx, o).Observations()...)
	}
	f.Commands = b.Ordered(f.Commands)
	return append([]core.Finding{f}, refused...)
}

// busy is for an actor that is at work, as far as anybody can see.
func busy(b core.Responsible, f core.Finding) core.Finding {
	f.Code = core.FinalizerActorAlive
	if c, told := status.OfDeletion(b.Object); told {
		f.Sentence = fmt.Sprintf("condition %s of the object says, since the deletion: %s", c.Type, core.Brief(c.Message))
		f.Remedy = phrase.Sentence(fmt.Sprintf("see to what condition %s says: %s is alive, and removes the finalizer "+
			"once that is settled", c.Type, b.Name)) + b.OnceRunning()
	}
	f.Commands = b.Ordered(
		[]core.Step{core.Describe().Doing("shows what its controller says of it").Risking(finalizer.RiskNone)})
	return f
}

// outside is for an actor that nobody can see from here.
func outside(b core.Responsible, f core.Finding) core.Finding {
	f.Remedy = phrase.Sentence(b.Name+" normally runs outside the cluster: not seeing it here means nothing") + " " +
		phrase.Sentence("check there that it is running") + b.OnceRunning()
	f.Commands = append(f.Commands,
		core.Describe().Doing("shows what its controller says of it").Risking(finalizer.RiskNone))
	return f
}

// unfound is for an actor of which nobody knows whether it is there: the cluster is asked who may.
func (e *Examiner) unfound(ctx context.Context, b core.Responsible, f core.Finding) core.Finding {
	leads := e.leads(ctx, b.Object)
	f.Evidence = append(f.Evidence, leads.Observations()...)
	only := leads.Only()
	switch {
	case only != nil:
		f.Remedy = fmt.Sprintf("Look at %s %s/%s first: RBAC lets no other workload write objects of this type, "+
			"but for administrators and Kubernetes itself.", only.GetKind(), only.GetNamespace(), only.GetName()) +
			b.OnceRunning()
	case b.IsKnown && !b.NotFound():
		f.Remedy = phrase.Sentence("check that "+b.Name+" is running; its state is not visible through the API") +
			b.OnceRunning()
	}
	if only != nil {
		d := e.downLead(ctx, b, only)
		f.Evidence, f.Commands = append(f.Evidence, d.Evidence...), append(f.Commands, d.Steps...)
	}
	f.Commands = append(f.Commands,
		core.Describe().Doing("shows what its controller says of it").Risking(finalizer.RiskNone))
	for _, w := range leads.Running(2) {
		f.Commands = append(f.Commands,
			core.At(e.Ref(w), core.Command("kubectl", "logs",
				"OBJECT")).Doing("shows whether it works on the object").Risking(finalizer.RiskNone))
	}
	return f
}

// leads are who may remove the finalizers of an object, by RBAC.
func (e *Examiner) leads(ctx context.Context, o *unstructured.Unstructured) actor.Permissions {
	leads, _ := e.Actors.Permitted(ctx, o)
	return leads
}

// Unread is for a finalizer of an object that could not be read.
func Unread(name string, err error) core.Finding {
	return core.Finding{
		Code: core.FinalizerActorUnknown, Finalizer: name, Evidence: core.Seen("the object cannot be read: %v", err),
		Remedy: "Run the command again as a user who may read it.",
	}
}

// Unexamined is for the first of the finalizers of an object that are too many to examine.
func Unexamined(names []string) core.Finding {
	return core.Finding{
		Code: core.FinalizerActorUnknown, Finalizer: names[0],
		Evidence: core.Seen("it and %d more finalizers of the object were not examined", len(names)-1),
		Remedy:   "Run the command again when the finalizers before it are removed.",
	}
}

// downLead looks into the one workload that RBAC lets remove a finalizer, as if it were the actor.
func (e *Examiner) downLead(ctx context.Context, b core.Responsible, only *unstructured.Unstructured) core.Downtime {
	if only.GetKind() == "Pod" {
		return core.Downtime{}
	}
	b.Name, b.Workloads, b.Scaled = graph.Located(only.GetKind(), only.GetNamespace(), only.GetName()),
		[]*unstructured.Unstructured{only}, nil
	if actor.ReadWorkload(only).Scaled {
		b.Scaled = b.Workloads
	}
	return e.DownWorkloads(ctx, b)
}

// remedied says what to repair, or that what is switched off is to be started. Nobody is told to
// start what is started and fails.
func (e *Examiner) remedied(ctx context.Context, b core.Responsible, d core.Downtime, f core.Finding) core.Finding {
	switch {
	case d.Starting:
		f.Remedy = phrase.Sentence(b.Name+" is starting: wait, and run the command again") + b.OnceRunning()
	case len(d.Repairs) > 0:
		f.Remedy = phrase.Sentence(b.Name + " is down and cannot just be started again")
		for _, r := range d.Repairs[:min(len(d.Repairs), phrase.MaxNamed)] {
			f.Remedy += " " + phrase.Sentence(r)
		}
		f.Remedy += " It removes the finalizer then." + b.OnceRunning()
	case b.Destroys():
		f.Remedy = phrase.Sentence("decide first what is to be kept: once it is started, "+b.Name+" deletes") +
			b.OnceRunning()
	default:
		f.Remedy = f.UsualOf(core.FinalizerActorDead)
	}
	f.Commands = append(d.Steps, f.Commands...)
	if w := b.Workloads; len(w) > 0 &&
		!slices.ContainsFunc(w, func(w *unstructured.Unstructured) bool { return !e.Closed(ctx, w.GetNamespace()) }) {
		f = e.Possible(ctx, f, core.Creation{
			What: fmt.Sprintf("the pods of %s %s", w[0].GetKind(), w[0].GetName()), Namespace: w[0].GetNamespace(),
			Elsewhere: true, Left: "Otherwise the remaining option is to remove the finalizer by hand.",
		})
	}
	return f
}
