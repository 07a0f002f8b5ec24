package refusal

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownership"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// protected is for a deletion that was not tried, because its answer is known: something keeps the
// object.
func (e *Examiner) protected(ctx context.Context, w admission.Write, unasked *cluster.UnaskedError) []core.Finding {
	if !unasked.Refused {
		return nil
	}
	said := unasked.Error()
	if guards := e.guards(ctx, w, said); len(guards) > 0 {
		return guards
	}
	for _, d := range e.Registry.Links() {
		if d.DryRunWrites == nil {
			continue
		}
		for _, name := range d.DryRunWrites.Webhooks {
			if hooks, _ := e.hooks(ctx, w, name); len(hooks) > 0 {
				return e.webhookDenies(ctx, w, said, []string{name})
			}
		}
	}
	return []core.Finding{{
		Code: core.AdmissionDenied, Evidence: core.Seen("%s is denied: %s", w, said), Sentence: w.String() + " is denied",
		Remedy: "Find out what keeps it, and whether it is still needed.",
	}}
}

// guards returns the objects for whose sake a webhook denies a deletion, by the links of packs: a
// Usage of Crossplane. The webhook does what it is there for; what can be deleted is the guard, or
// what uses the object.
func (e *Examiner) guards(ctx context.Context, w admission.Write, said string) []core.Finding {
	if e.Registry == nil {
		return nil
	}
	var all []core.Finding
	for _, d := range e.Registry.Links() {
		if d.Deletion.Of != link.Guard {
			continue
		}
		sources, _, _ := ownership.Sources(ctx, e.Reader, d) // the reader notes what it cannot list as a gap
		for _, o := range sources {
			if names(d, o, w) {
				all = append(all, e.guard(d, o, w, said))
			}
		}
	}
	return all
}

// names reports whether an object names what is written as the end of a link.
func names(d *link.Definition, o *unstructured.Unstructured, w admission.Write) bool {
	ends, _, _ := d.References(o.Object) // what could be understood comes with an error
	return slices.ContainsFunc(ends, func(n link.Named) bool {
		return n.Group == w.Type.Group && n.Kind == w.Type.Kind && n.Name == w.Object.GetName() &&
			(!w.Type.Namespaced || n.Namespace == w.Object.GetNamespace())
	})
}

// guard is the cause that an object keeps another from being deleted.
func (e *Examiner) guard(d *link.Definition, o *unstructured.Unstructured, w admission.Write,
	said string) core.Finding {
	about := e.Ref(o)
	guard := about.Located()
	f := core.Finding{Code: core.AdmissionDenied, About: &about, Evidence: core.Seen("%s is denied: %s", w, said),
		Sentence: fmt.Sprintf("%s %s keeps the object, and its deletion is denied", about.Kind, about.Name)}
	users, reason := d.UsersOf(o.Object)
	if reason != "" {
		f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(o, d.ReasonField.String()),
			fmt.Sprintf("%s keeps it for this reason: %s", guard, core.Brief(reason)))...)
	}
	f.Remedy = fmt.Sprintf("Delete %s if nothing needs the object any more: then its deletion is accepted.", guard)
	var using []string
	for _, n := range users {
		user, name := e.user(n)
		state := ""
		switch {
		case user < 0:
		case e.Graph.DeletionTimestamp(user) != 0:
			state = ", and is being deleted"
			f.Users = append(f.Users, user)
		default:
			step := core.Command("kubectl", "gc", "delete", "OBJECT",
				"--dry-run").Safely("shows what is deleted with what uses it")
			f.Commands = append(f.Commands, core.At(e.Graph.Ref(user), step))
		}
		f.Evidence = append(f.Evidence,
			core.ObservedAt(cluster.Place(o, n.Field),
				fmt.Sprintf("%s keeps it for %s, which uses it%s", guard, name, state))...)
		using = append(using, name)
	}
	switch {
	case len(using) > 0 && len(f.Users) == len(using):
		f.Remedy = fmt.Sprintf(
			"%s goes with %s, which %s being deleted: find out what %s for. If it can do without the object, delete %s alone.",
			guard, phrase.And(using), phrase.Plural(len(using), "is", "are"),
			phrase.Plural(len(using), "it waits", "they wait"), guard)
	case len(using) > 0:
		f.Remedy = fmt.Sprintf(
			"Delete %s first: %s goes with it, and the deletion is accepted. If it can do without the object, delete %s alone.",
			phrase.And(using), guard, guard)
	}
	repeats := e.repeats(o, w)
	f.Evidence = append(f.Evidence, repeats...)
	if o.GetDeletionTimestamp() != nil {
		f.Observe("%s is being deleted", guard)
		f.Commands = append(f.Commands, core.InTheWay(true))
		return f
	}
	last := core.Command("kubectl", "gc", "delete", "OBJECT").Doing("lets the object be deleted, whatever uses it").Disturbing()
	if repeats != nil {
		last = core.Command("kubectl", "gc", "delete", "OBJECT").Doing("has the object deleted too, whatever uses it").Disturbing()
		f.Remedy += " The object is deleted with it: remove the annotation first if that is not meant."
	}
	f.Commands = append(f.Commands, last)
	return f
}

// repeats says that a program deletes what a guard keeps as soon as the guard is gone, because
// somebody has tried to delete it before.
func (e *Examiner) repeats(guard *unstructured.Unstructured, w admission.Write) []v1alpha1.Observation {
	for _, d := range e.Registry.Links() {
		if d.Deletion.Annotation == "" || !d.From.Matches(guard.GroupVersionKind().Group, guard.GetKind(), nil) ||
			!names(d, guard, w) {
			continue
		}
		if _, kept := link.Kept(d.KeepOf(guard.Object), w.Object.Object); kept && !w.Outline {
			continue
		}
		effect := d.EffectOf(guard.Object, guard.GetFinalizers())
		if !effect.Deletes {
			continue
		}
		if w.Outline {
			return core.Seen("%s deletes it when %s is gone if it has the annotation %s, which could not be read", d.Deletion.By,
				guard.GetName(), d.Deletion.Annotation)
		}
		return core.ObservedAt(cluster.Place(w.Object, "metadata.annotations"), fmt.Sprintf(
			"somebody has tried to delete it, as its annotation %s says: when %s is gone, %s deletes it with the policy %s",
			d.Deletion.Annotation, cluster.Located(guard), d.Deletion.By, d.PolicyFor(w.Object.Object, effect)))
	}
	return nil
}

// user finds what a guard names as the user of its end, and its name; a negative id if it was not
// seen.
func (e *Examiner) user(n link.Named) (graph.ID, string) {
	r, served := e.Reader.KindIn(n.Group, n.Kind)
	if served {
		n.Namespace = r.Place(n.Namespace)
	}
	name := graph.Located(n.Kind, n.Namespace, n.Name)
	if id, ok := e.Graph.Find(r.Group, r.Resource, n.Namespace, n.Name); served && ok && e.Graph.Observed(id) {
		return id, name
	}
	return -1, name
}
