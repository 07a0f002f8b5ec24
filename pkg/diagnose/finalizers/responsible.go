package finalizers

import (
	"cmp"
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
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
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
	worked := e.workedOn(ctx, o)
	sign, lives := e.livesOutside(ctx, o, a)
	if lives {
		a.Life = actor.Alive
	}
	b := core.ResponsibleFor(o, a)
	f := core.Finding{
		Finalizer: a.Finalizer, Actor: a.Who, Args: []string{"{then}", b.OnceRunning()}, Cost: b.Cost(), DataLoss: b.LosesData(),
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

// byLife says whether whoever should remove a finalizer lives, and whether they ignore the object.
func (e *Examiner) byLife(ctx context.Context, b core.Responsible, f core.Finding,
	worked []v1alpha1.Observation, refused []core.Finding) []core.Finding {
	a := b.Actor
	if a.Life == actor.Alive {
		ignored, unsure := e.ignored(ctx, b, f)
		if len(ignored) > 0 {
			return append(ignored, refused...)
		}
		lacks := e.mayLack(ctx, b)
		lacks.renamed = e.renamed(ctx, b.Object, a)
		f.Evidence = slices.Concat(f.Evidence, unsure, lacks.seen)
		by := slices.DeleteFunc(e.namers(ctx, b.Object), func(n namer) bool {
			return n.owned && e.quiet(b) < finishing ||
				slices.ContainsFunc(b.Users, func(u actor.User) bool { return e.Ref(u.Object) == n.ref })
		})
		says, guessed := e.said(ctx, b.Object), e.pauses(b, f, true)
		switch {
		case len(refused) == 0 && says.what == "" && len(guessed) > 0:
			return ordered(b, guessed)
		case len(refused) == 0:
			refused = []core.Finding{e.forNode(ctx, b, e.busy(b, f, says, lacks, by), says)}
		}
		return append(refused, core.Each(guessed, func(f *core.Finding) { f.After++ })...)
	}
	f.Args = []string{"{then}", b.OnceStarted()}
	down := e.DownWorkloads(ctx, b)
	f.Evidence = append(f.Evidence, down.Evidence...)
	f = e.alsoPaused(ctx, b, f)
	var lacks lacked
	if a.Life != actor.Dead {
		lacks = e.mayLack(ctx, b)
		f.Evidence = append(f.Evidence, lacks.seen...)
	}
	if !a.IsKnown {
		lacks.renamed = e.renamed(ctx, b.Object, a)
		f.Evidence = slices.Concat(f.Evidence, lacks.renamed, e.namesake(b.Object, a.Finalizer))
	}
	f.Code = core.FinalizerActorUnknown
	led := false
	switch {
	case a.Life == actor.Dead:
		f.Code = core.FinalizerActorDead
	case a.NotFound() && len(worked) == 0:
		f.Code = core.FinalizerActorNotFound
	}
	switch {
	case a.Life == actor.Dead || len(down.Repairs)+len(down.Steps) > 0:
		f = e.remedied(ctx, b, down, f)
	case b.RunsOutside():
		f = e.outside(ctx, b, f)
	default:
		f, led = e.unfound(ctx, b, f)
	}
	if len(worked) > 0 && !led && a.Life != actor.Dead && len(down.Repairs)+len(down.Steps) == 0 {
		f.Remedy = fmt.Sprintf("Something has worked on the object since its deletion: find it, and look at what it says. "+
			"If that is %s, it runs under another name, or outside the cluster.", b.Name) + b.OnceRunning()
	}
	if f.Code == core.FinalizerActorUnknown {
		f = e.unknown(ctx, b, f)
	}
	switch {
	case len(lacks.look) > 0: // what it has begun since the deletion
		f.Remedy = "Whoever removes the finalizer may need " + lacks.what + ": " + lacks.mend + " if so. " +
			cmp.Or(f.Remedy, f.Usual())
		f.Commands = slices.Concat(lacks.look, f.Commands)
	case lacks.what != "":
		f.Remedy = cmp.Or(f.Remedy, f.Usual()) + lacks.also(saying{})
	case lacks.ownerless != "":
		f.Remedy = cmp.Or(f.Remedy, f.Usual()) + " " + lacks.missed("whoever removes the finalizer")
	case len(lacks.renamed) > 0 && f.Code == core.FinalizerActorUnknown:
		f.Remedy = cmp.Or(f.Remedy, f.Usual()) + " Other objects of the kind have another finalizer: the version that runs may not " +
			"remove this one. If its log does not name the object, remove it by hand."
	case lacks.other != "":
		f.Remedy = cmp.Or(f.Remedy, f.Usual()) + lacks.others()
	}
	if none := nothingFor(b); none.remedy != "" && len(worked) > 0 && a.Life != actor.Dead && !b.RunsOutside() {
		f.Evidence, f.Remedy = append(f.Evidence, none.seen...), cmp.Or(f.Remedy, f.Usual())+none.remedy
	}
	if lacks.expired != "" {
		f.Remedy = cmp.Or(f.Remedy, f.Usual()) + lacks.expired
	}
	if f.Code != core.FinalizerActorUnknown {
		f = e.withDefinition(ctx, b.Object, f)
	}
	if a.Life == actor.Dead {
		f = e.alsoForbidden(ctx, b, f)
	}
	if a.Life == actor.Dead && !a.IsKnown {
		f.Evidence = append(f.Evidence, e.leads(ctx, b.Object).Observations()...)
	}
	if f.Code == core.FinalizerActorUnknown {
		if by := e.namers(ctx, b.Object); len(by) > 0 {
			f.Remedy = cmp.Or(f.Remedy, f.Usual()) + " " + phrase.Sentence("it may be kept for "+keepers(by))
			f = e.behindDependents(e.keptFor(f, by), by)
		} else if lacks.what == "" && lacks.ownerless == "" && len(b.Pauses) == 0 && !b.RunsOutside() {
			f = e.lookAgain(ctx, b, f)
		}
	}
	if a.Life != actor.Dead {
		f = e.behindItsNamespace(b, ofTemplate(b.Object, f))
	}
	f.Commands = b.Ordered(f.Commands)
	return append([]core.Finding{f}, refused...)
}

// workedOn is the evidence that a program has worked on a custom resource since its deletion: a
// condition that was changed, a field that was written, or a warning. Those of other objects are
// Kubernetes' own.
func (e *Examiner) workedOn(ctx context.Context, o *unstructured.Unstructured) []v1alpha1.Observation {
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
	return core.ObservedAt(core.From(o, last.Field), fmt.Sprintf("a program has worked on it since its deletion: %s %s ago",
		last.Says, phrase.Ago(e.Now.Sub(last.At))))
}

// outside is for an actor that nobody can see from here. Which it is, the object may say, as classes
// do: there may be a workload that is called like that.
func (e *Examiner) outside(ctx context.Context, b core.Responsible, f core.Finding) core.Finding {
	field, called := controllerOf(b.Object)
	switch {
	case b.Reporter != nil:
		f.Remedy = phrase.Sentence(b.Name+" runs elsewhere, and what runs here does not do its work: "+
			"find out there whether it runs, and what it says") + b.OnceRunning()
		f.Commands = append(f.Commands, core.At(e.Ref(b.Reporter), core.Describe()).
			Doing("shows what is heard from there").Risking(finalizer.RiskNone))
		return f
	case called != "":
		f.Remedy = phrase.Sentence(fmt.Sprintf("check whether %s runs, in the cluster or outside: its %s names %s",
			b.Name, field, called)) + b.OnceRunning()
		if e.unused(b) {
			f.Remedy += " If it was uninstalled, remove the finalizer by hand: nothing is seen for which it would keep the object."
		}
	default:
		f.Remedy = phrase.Sentence(b.Name+" normally runs outside the cluster: not seeing it here means nothing") + " "
		if note := b.Known.Alive.Note; note != "" {
			f.Remedy += phrase.Sentence(note) + " "
		}
		if by := b.Known.Alive.ReportedBy; b.Unreported != "" && by != nil && len(by.Where) == 0 { // it is there that it runs
			f.Remedy += fmt.Sprintf("%s, which stands for where it runs, does not exist here: if that was removed, nobody there has access "+
				"any more, and the finalizer is to be removed by hand unless something here does that.", b.Unreported)
		} else {
			f.Remedy += phrase.Sentence("check there that it is running") + b.OnceRunning()
		}
		if none := unnamed(b); none != nil {
			f.Evidence = append(f.Evidence, namesNone(b, none)...)
			f.Remedy += fmt.Sprintf(" If no %s was ever made for it, because no provider runs for this cluster, remove the finalizer by hand.", none.Is)
		}
	}
	f.Commands = append(f.Commands,
		core.Describe().Doing("shows what its controller says of it").Risking(finalizer.RiskNone))
	if called == "" {
		return f
	}
	if w := e.leads(ctx, b.Object).Like(called, b.Object.GetKind()); w != nil {
		f.Evidence = append(f.Evidence, core.Observed(actor.ByItsName+actor.ReadWorkload(w).Says)...)
		f.Commands = append(f.Commands, e.log(w))
	}
	return f
}

// controllerOf is what an object calls its controller, and in which field, as a GatewayClass and an
// IngressClass do.
func controllerOf(o *unstructured.Unstructured) (field, name string) {
	for _, field := range []string{"controllerName", "controller"} {
		if name := status.Nested(o, "spec", field); name != "" {
			return "spec." + field, name
		}
	}
	return "", ""
}

// log shows what a workload says that may be the one.
func (e *Examiner) log(w *unstructured.Unstructured) core.Step {
	return core.At(e.Ref(w), core.Command("kubectl", "logs", "OBJECT")).Doing("shows whether it works on the object").
		Risking(finalizer.RiskNone)
}

// unnamed is what the object would name of what it stands for outside the cluster, where it names none;
// nil if it does, or if no pack says where.
func unnamed(b core.Responsible) *finalizer.External {
	if len(b.Known.External) == 0 || slices.ContainsFunc(b.Known.External,
		func(x finalizer.External) bool { return len(x.Names(b.Object.Object)) > 0 }) {
		return nil
	}
	return &b.Known.External[0]
}

// unfound is for an actor of which nobody knows whether it is there: the cluster is asked who may. Led
// says that this leads to one workload.
func (e *Examiner) unfound(ctx context.Context, b core.Responsible, f core.Finding) (_ core.Finding, led bool) {
	leads := e.leads(ctx, b.Object)
	f.Evidence = withLeads(f.Evidence, leads.Observations())
	first, why := lead(b, leads)
	itself := ofItself(b)
	show := core.Describe().Doing("shows what its controller says of it").Risking(finalizer.RiskNone)
	switch {
	case itself != "" && (first == nil || first.GetUID() == b.Object.GetUID()):
		f.Remedy, first = itself, nil
	case first != nil:
		f.Remedy = fmt.Sprintf("Look at %s %s/%s first: %s.", first.GetKind(), first.GetNamespace(), first.GetName(), why) +
			b.OnceRunning()
	case b.IsKnown && !b.NotFound():
		f.Remedy = phrase.Sentence("check that "+b.Name+" is running; its state is not visible through the API") +
			b.OnceRunning()
	}
	works := actor.Actor{Life: actor.Alive, Workloads: leads.Workloads()}
	if first != nil {
		works.Workloads = []*unstructured.Unstructured{first}
	}
	if scopes := works.NotWatching(b.Object); len(scopes) > 0 && !b.IsKnown {
		f.Evidence = append([]v1alpha1.Observation{scopes[0].Observation(), scopes[0].Missed(b.Object)}, f.Evidence...)
		f.Remedy = cmp.Or(f.Remedy, f.UsualOf(core.FinalizerActorUnknown)) +
			" The object is not among those that it watches: have it watch the object as well, or find who does."
	}
	if first == nil {
		f.Commands = append(f.Commands, show)
	} else {
		d := e.downLead(ctx, b, first)
		f.Evidence = append(f.Evidence, d.Evidence...)
		switch {
		case first == b.Namesake: // a name is too little to change anything before the object is looked at
			f.Commands = slices.Concat(f.Commands, []core.Step{show}, d.Steps)
			if actor.ReadWorkload(first).Life == actor.Alive {
				f.Commands = append(f.Commands, e.log(first))
			}
		case !likely(b, first): // it may have been stopped for what it does to other objects
			f.Commands = append(f.Commands, show)
		default:
			f.Commands = slices.Concat(f.Commands, d.Steps, []core.Step{show})
		}
	}
	// Where the one is down, another's log says nothing of it.
	if first == nil || actor.ReadWorkload(first).Life == actor.Alive {
		for _, w := range leads.Running(2, first) {
			f.Commands = append(f.Commands, e.log(w))
		}
	}
	return f, first != nil
}

// lead is the one workload that is likeliest to remove a finalizer, by RBAC or by its name, and why;
// nil if none stands out.
func lead(b core.Responsible, leads actor.Permissions) (first *unstructured.Unstructured, why string) {
	group, kind := b.Object.GroupVersionKind().Group, b.Object.GetKind()
	if first = leads.Only(); first != nil && (ofItself(b) == "" || b.IsKnown) {
		return first, "RBAC lets no other workload write objects of this type, but for administrators and Kubernetes itself"
	}
	if b.IsKnown {
		return nil, ""
	}
	if first = leads.Like(b.Finalizer, kind); first != nil {
		return first, "of the workloads that RBAC lets write objects of this type, it is the one that is called like the finalizer"
	}
	if first = leads.Controls(); first != nil && !cluster.BuiltIn(group) && strings.Contains(b.Finalizer, group) {
		return first, "the finalizer has the group of the object, and but for administrators RBAC lets no other workload write its status"
	}
	if first = namedAt(b.Object, leads.Workloads()); first != nil {
		return first, "of the workloads that RBAC lets write objects of this type, it is the one that the object names"
	}
	if len(leads.Accounts) == 0 && b.Namesake != nil {
		return b.Namesake, "it is called like the finalizer"
	}
	return nil, ""
}

// namedAt is the one of some workloads that a label of an object names, or in which its name ends, as
// that of a replica does in the name of the pool whose pods work on it; nil if there is none.
func namedAt(o *unstructured.Unstructured, workloads []*unstructured.Unstructured) (one *unstructured.Unstructured) {
	for _, w := range workloads {
		named := strings.HasSuffix(o.GetName(), "-"+w.GetName())
		for _, value := range o.GetLabels() {
			named = named || value == w.GetName()
		}
		if named && one != nil {
			return nil
		}
		if named {
			one = w
		}
	}
	return one
}

// likely says whether a workload that may write an object is its controller, and so may be started for
// its sake. That one is the only one that may write a Namespace or a ConfigMap says little: it has to
// be called like the finalizer as well.
func likely(b core.Responsible, w *unstructured.Unstructured) bool {
	return b.IsKnown || !cluster.BuiltIn(b.Object.GroupVersionKind().Group) ||
		actor.CalledLike(w, b.Finalizer, b.Object.GetKind()) > 0
}

// ofItself is the remedy for a workload that is called like its finalizer, which its own pods may have
// to remove; empty if it is not.
func ofItself(b core.Responsible) string {
	w := b.Object
	if w.GroupVersionKind().Group != "apps" || w.GetDeletionTimestamp() == nil || b.IsKnown ||
		actor.CalledLike(w, b.Finalizer, w.GetKind()) == 0 {
		return ""
	}
	if actor.ReadWorkload(w).Life == actor.Alive {
		return "By its name and images, it may be its own pods that remove the finalizer: look at their log first."
	}
	return "By its name and images, it may be its own pods that remove the finalizer. None is ready, and changes of a workload that is " +
		"being deleted have no effect: if none becomes ready and no other controller removes it, remove it by hand."
}

// withLeads adds to what was seen who may remove the finalizer. A workload that was named by its name
// already is told once.
func withLeads(seen, leads []v1alpha1.Observation) []v1alpha1.Observation {
	leads = slices.Clone(leads)
	seen = slices.DeleteFunc(slices.Clone(seen), func(o v1alpha1.Observation) bool {
		state, named := strings.CutPrefix(o.Says, actor.ByItsName)
		words := strings.Fields(state)
		if !named || len(words) < 2 {
			return false
		}
		i := slices.IndexFunc(leads, func(l v1alpha1.Observation) bool {
			return strings.Contains(l.Says, words[0]+" "+words[1]+" uses it")
		})
		if i >= 0 {
			leads[i].Says += "; by its name the finalizer may be its own"
		}
		return i >= 0
	})
	return append(seen, leads...)
}

// leads are who may remove the finalizers of an object, by RBAC.
func (e *Examiner) leads(ctx context.Context, o *unstructured.Unstructured) actor.Permissions {
	leads, _ := e.Actors.Permitted(ctx, o)
	return leads
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
