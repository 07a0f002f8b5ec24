package finalizers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Actor says who should remove a finalizer, and whether they can. What refuses the update is the
// cause where somebody would make it; where nobody is there to make it, or who is there ignores the
// object, that comes on top.
func (e *Examiner) Actor(ctx context.Context, o *unstructured.Unstructured, name string,
	refused []core.Finding) []core.Finding {
	a, err := e.Actors.Judge(ctx, o, name)
	if err != nil {
		return nil // the context has ended
	}
	return e.by(ctx, o, a, refused)
}

// by is Actor for one that was found already.
func (e *Examiner) by(ctx context.Context, o *unstructured.Unstructured, a actor.Actor,
	refused []core.Finding) []core.Finding {
	worked := e.needs.workedOn(ctx, o)
	sign, lives := e.livesOutside(ctx, o, a)
	if lives {
		a.Life = actor.Alive
	}
	b := core.ResponsibleFor(o, a)
	f := core.Finding{
		Finalizer: a.Finalizer, Actor: a.Who, Args: []string{"{then}", b.OnceRunning()}, Cost: b.Cost(), DataLoss: b.LosesData(),
		Guards: a.IsKnown && a.Known.Polarity == finalizer.Guard && cluster.BuiltIn(o.GroupVersionKind().Group),
		Evidence: slices.Concat(e.Says(ctx, o), a.Evidence, worked, sign, core.Observed(status.Outside(o)...),
			core.Large(o)),
	}
	if a.Node != "" {
		if n := e.Node(ctx, a.Node); n.Unread {
			f.Evidence = append(f.Evidence, n.Evidence...)
		}
	}
	at := e.atNode(ctx, b, f)
	if len(at) > 0 && (a.Local || a.Life == actor.Alive) {
		return append(at, refused...)
	}
	return append(at, e.byLife(ctx, b, f, worked, refused)...)
}

// byLife says whether whoever should remove a finalizer lives, and whether they ignore the
// object.
func (e *Examiner) byLife(ctx context.Context, b core.Responsible, f core.Finding,
	worked []v1alpha1.Observation, refused []core.Finding) []core.Finding {
	a := b.Actor
	if a.Life == actor.Alive {
		ignored, unsure := e.ignored(ctx, b, f)
		if len(ignored) > 0 {
			return append(ignored, refused...)
		}
		lacks := e.needs.mayLack(ctx, b)
		lacks.renamed = e.outdated(ctx, b.Object, a)
		f.Evidence = slices.Concat(f.Evidence, unsure, lacks.seen)
		by := slices.DeleteFunc(e.namers(ctx, b.Object, a.Finalizer), func(n namer) bool {
			return n.owned && e.quiet(b) < finishing ||
				slices.ContainsFunc(b.Users, func(u actor.User) bool { return e.Ref(u.Object) == n.ref })
		})
		says, guessed := e.said(ctx, b.Object), e.pauses(b, f, true)
		switch {
		case len(refused) == 0 && says.what == "" && len(guessed) > 0:
			return ordered(b, guessed)
		case len(refused) == 0:
			busy := e.busy(b, f, says, lacks, by)
			if busy.Remedy == "" {
				busy = e.inClosing(ctx, b, busy)
			}
			refused = []core.Finding{e.forOthers(ctx, b, e.forNode(ctx, b, busy, says))}
		}
		return append(refused, core.Each(guessed, func(f *core.Finding) { f.After++ })...)
	}
	f.Args = []string{"{then}", b.OnceStarted()}
	down := e.DownWorkloads(ctx, b)
	f.Evidence = append(f.Evidence, down.Evidence...)
	f = e.alsoPaused(b, f)
	var lacks lacked
	if a.Life != actor.Dead {
		lacks = e.needs.mayLack(ctx, b)
		f.Evidence = append(f.Evidence, lacks.seen...)
	}
	if !a.IsKnown {
		lacks.renamed = e.outdated(ctx, b.Object, a)
		namesake, look := e.namesake(b.Object, a.Finalizer)
		f.Evidence = slices.Concat(f.Evidence, lacks.renamed, namesake)
		if len(namesake) > 0 && lacks.says == "" && lacks.what == "" {
			lacks.says = "finalizer " + a.Finalizer + strings.TrimPrefix(namesake[0].Says, "it")
			f.Commands = append(f.Commands, look...)
		}
	}
	f.Code = core.FinalizerActorUnknown
	led := false
	switch {
	case a.Life == actor.Dead:
		f.Code = core.FinalizerActorDead
	case a.NotFound() && len(worked) == 0 && !e.otherwiseCalled(ctx, b):
		f.Code = core.FinalizerActorNotFound
	}
	switch {
	case a.Life == actor.Dead || len(down.Repairs)+len(down.Steps) > 0:
		f = e.remedied(ctx, b, down, f)
		if a.Life != actor.Dead && len(b.Scaled) > 0 {
			f.Sentence = unsure(b) + "; " + actor.ReadWorkload(b.Scaled[0]).Says
		}
	case b.RunsOutside():
		f = e.outside(ctx, b, f)
	default:
		f, led = e.unfound(ctx, b, f)
	}
	if len(worked) > 0 && !led && a.Life != actor.Dead && len(down.Repairs)+len(down.Steps) == 0 {
		f.Remedy = "Something has worked on the object since its deletion: find it, and look at what it says."
		if b.Who != "" {
			f.Remedy += fmt.Sprintf(" If that is %s, it runs under another name, or outside the cluster.", b.Name)
		}
		f.Remedy += b.OnceRunning()
	}
	if f.Code == core.FinalizerActorUnknown {
		f = e.unknown(ctx, b, f)
	}
	switch {
	case len(lacks.look) > 0: // what it has begun since the deletion
		f.Remedy = "Whoever removes the finalizer may need " + lacks.what + ": " + lacks.mend + " if so. " + f.Usual()
		f.Commands = slices.Concat(lacks.look, f.Commands)
	case lacks.what != "":
		f.Remedy = f.Usual() + lacks.also(saying{})
	case lacks.ownerless != "":
		f.Remedy = f.Usual() + " " + lacks.missed("whoever removes the finalizer")
	case len(lacks.renamed) > 0 && f.Code == core.FinalizerActorUnknown:
		f.Remedy = f.Usual() + " Other objects of the kind do not have this finalizer, so the version that runs may not " +
			"remove it. If its log does not name the object, remove it by hand."
	case lacks.other != "":
		f.Remedy = f.Usual() + lacks.others()
	}
	if none := nothingFor(b); none.remedy != "" && len(worked) > 0 && a.Life != actor.Dead && !b.RunsOutside() {
		f.Evidence, f.Remedy = append(f.Evidence, none.seen...), f.Usual()+none.remedy
	}
	if more := lacks.expired + lacks.done; more != "" {
		f.Remedy = f.Usual() + more
	}
	if f.Code != core.FinalizerActorUnknown {
		f = e.withDefinition(ctx, b.Object, f)
	}
	if ns := b.Object.GetNamespace(); f.Code == core.FinalizerActorNotFound && e.Closed(ctx, ns) {
		f.Remedy = f.Usual() + fmt.Sprintf(" If it ran there: it cannot be installed in namespace %s, which is being "+
			"deleted. Run it in another, or clean up and remove the finalizer by hand.", ns)
	}
	if a.Life == actor.Dead {
		f = e.alsoForbidden(ctx, b, f)
	}
	if a.Life == actor.Dead && !a.IsKnown {
		f.Evidence = append(f.Evidence, e.leads(ctx, b.Object).Observations()...)
	}
	if f.Code == core.FinalizerActorUnknown && f.Sentence == "" && lacks.says != "" {
		f.Sentence = unsure(b) + "; " + lacks.says
	}
	if f.Code == core.FinalizerActorUnknown {
		by := once(append(e.awaited(b.Object, e.said(ctx, b.Object)), e.namers(ctx, b.Object, a.Finalizer)...))
		if len(by) > 0 {
			f.Remedy = f.Usual() + " " + phrase.Sentence("it may be kept for "+keepers(by))
			if f.Sentence == "" {
				f.Sentence = unsure(b) + "; " + by[0].says()
			}
			f = e.behindDependents(e.keptFor(f, by), by)
		} else if lacks.what == "" && lacks.ownerless == "" && len(b.Pauses) == 0 && !b.RunsOutside() {
			f = e.lookAgain(ctx, b, f)
		}
		f = e.behindDependents(f, lacks.waited)
	}
	if len(lacks.renamed) > 0 && f.Sentence == "" && f.Code == core.FinalizerActorUnknown {
		f.Sentence = unsure(b) + "; " + lacks.renamed[0].Says
	}
	if s, seen := e.lately(b.Object); f.Code == core.FinalizerActorUnknown && f.Sentence == "" && s.what != "" {
		f.Sentence, f.Evidence = unsure(b)+"; "+s.sentence(), append(f.Evidence, seen...)
	}
	if f.Code == core.FinalizerActorUnknown && f.Sentence == "" && !b.RunsOutside() {
		switch stage := unfinished(b.Object); {
		case lacks.ownerless != "":
			f.Sentence = unsure(b) + "; the object's owner " + lacks.ownerless + " does not exist"
		case stage.what != "":
			f.Sentence = unsure(b) + "; " + stage.sentence()
			f.Remedy = phrase.Sentence("find out whether it waits for what "+stage.what+" says") + " " + f.Usual()
		}
	}
	for _, probe := range []func(context.Context, core.Responsible, core.Finding) core.Finding{e.atLostNode, e.unhooked,
		e.forOthers} {
		if f.Code == core.FinalizerActorUnknown && f.Sentence == "" {
			f = probe(ctx, b, f)
		}
	}
	if silent := e.silent(ctx, b, f, worked); silent.Sentence != f.Sentence {
		f = e.inClosing(ctx, b, silent)
	}
	f.Sentence = e.likeliest(ctx, b, f.Sentence)
	if a.Life != actor.Dead {
		f = e.behindItsNamespace(b, ofTemplate(b.Object, f))
	}
	f.Commands = b.Ordered(f.Commands)
	return append([]core.Finding{f}, refused...)
}

// workedOn is the evidence that a program has worked on a custom resource since its deletion: a
// condition that was changed, a field that was written, or a warning. Those of other objects are
// Kubernetes' own.
func (e dependencies) workedOn(ctx context.Context, o *unstructured.Unstructured) []v1alpha1.Observation {
	if cluster.BuiltIn(o.GroupVersionKind().Group) {
		return nil
	}
	last, worked := status.ChangedSinceDeletion(o)
	if deleted := o.GetDeletionTimestamp(); deleted != nil {
		if at, by := e.LastWarning(ctx, o); !at.Before(deleted.Time) && at.After(last.At) {
			last, worked = status.Change{At: at, Says: by + " recorded a warning about it"}, true
		}
	}
	if !worked {
		return nil
	}
	return core.ObservedAt(cluster.Place(o, last.Field), fmt.Sprintf("a program has worked on it since its deletion: %s %s ago",
		last.Says, phrase.Ago(e.Now.Sub(last.At))))
}

// Unread is for a finalizer of an object that could not be read.
func Unread(name string, err error) core.Finding {
	f := core.Finding{
		Code: core.FinalizerActorUnknown, Finalizer: name, Evidence: core.Seen("the object cannot be read: %v", err),
		Remedy: "Run the command again as a user who may read it.",
	}
	if cluster.IsServerError(err) {
		f.Remedy = "The API server fails to read it, for whoever it is: run the command again, and read its log if it still fails."
	}
	return f
}

// Unexamined is for the first of the finalizers of an object that are too many to examine.
func Unexamined(names []string) core.Finding {
	return core.Finding{
		Code: core.FinalizerActorUnknown, Finalizer: names[0],
		Evidence: core.Seen("it and %d more finalizers of the object were not examined", len(names)-1),
		Remedy:   "Run the command again when the finalizers before it are removed.",
	}
}

// leaving says that all workloads of an actor are being deleted. Their controllers make no pods of
// such a one, whatever it is scaled to
// (https://github.com/kubernetes/kubernetes/blob/v1.37.2/pkg/controller/deployment/deployment_controller.go#L617).
func leaving(b core.Responsible) bool {
	return len(b.Workloads) > 0 && !slices.ContainsFunc(b.Workloads,
		func(w *unstructured.Unstructured) bool { return w.GetDeletionTimestamp() == nil })
}

// remedied says what to repair, or that what is switched off is to be started. Nobody is told to
// start what is started and fails.
func (e *Examiner) remedied(ctx context.Context, b core.Responsible, d core.Downtime, f core.Finding) core.Finding {
	switch {
	case leaving(b):
		f.Remedy = phrase.Sentence(b.Name+" is being deleted itself, and starts no pods any more: install it again to have it "+
			"do its work, or remove the finalizer by hand") + b.OnceStarted()
	case d.Starting:
		f.Remedy = phrase.Sentence(b.Name+" is starting: wait, and run the command again") + b.OnceStarted()
	case len(d.Repairs) > 0:
		f.Remedy = phrase.Sentence(b.Name + " is down and cannot just be started again")
		for _, r := range d.Repairs[:min(len(d.Repairs), phrase.MaxNamed)] {
			f.Remedy += " " + phrase.Sentence(r)
		}
		f.Remedy += " It removes the finalizer then." + b.OnceStarted()
	case b.Reporter != nil:
		return e.outside(ctx, b, f)
	case b.Local:
		f.Remedy = phrase.Sentence("have "+b.Name+" run on Node "+b.Node+" again: another node cannot do it") +
			b.OnceStarted()
	case b.Destroys() && !b.Idles():
		f.Remedy = phrase.Sentence("decide first what is to be kept: once it is started, "+b.Name+" deletes") +
			b.OnceStarted()
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
