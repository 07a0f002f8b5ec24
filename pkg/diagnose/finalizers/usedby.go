package finalizers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// used is for an object that others use, by the kinds that the pack names.
func (e holders) used(_ context.Context, q *question) []core.Finding {
	f := q.inUse()
	var names []string
	waiting := 0 // of the users, those that are not being deleted
	until := ""  // with what the use by all of these ends
	field := ""  // where all of these name it, if that can be changed
	late := 0    // how many of these were made since its deletion, so that their use does not end by itself
	for _, u := range q.a.Users {
		if u.Kind == "" {
			continue // what has a finding of its own
		}
		ref, owner := e.Ref(u.Object), ""
		if c := u.For(); c != nil {
			owner = fmt.Sprintf(", for %s %s", c.Kind, c.Name)
			if r, served := e.Reader.KindIn((graph.Ref{APIVersion: c.APIVersion}).Group(), c.Kind); served {
				ref = core.RefTo(r.Type, u.Object.GetNamespace(), c.Name)
			}
		}
		state, deleting := "", u.Object.GetDeletionTimestamp() != nil
		if deleting {
			state = ", and is being deleted"
		} else {
			until, field = agreed(waiting, until, u.Until), agreed(waiting, field, changeable(u))
			waiting++
			if isLate(u, q.o) {
				late++
				state = ", and was created after the deletion: a provisioner uses no source that is being deleted"
			}
		}
		what := cluster.Located(u.Object)
		if u.ForField != "" {
			what = ref.Located()
		}
		names = append(names, what)
		if len(names) > phrase.MaxNamed {
			continue
		}
		f.Evidence = append(f.Evidence,
			core.ObservedAt(cluster.Place(u.Object, u.NameField), fmt.Sprintf("%s uses it%s%s", cluster.Located(u.Object), owner, state))...)
		if failing := status.Failing(u.Object); len(failing) > 0 {
			f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(u.Object, failing[0].Field),
				fmt.Sprintf("of %s, %s", cluster.Located(u.Object), e.Quoted(failing[0])))...)
		}
		f.Commands = append(f.Commands, core.At(ref, core.InTheWay(deleting)))
	}
	if len(names) == 0 {
		return nil
	}
	if more := len(names) - phrase.MaxNamed; more > 0 {
		f.Observe("%d more objects use it", more)
	}
	f.Args = []string{"{users}", phrase.And(names)}
	f.Sentence = fmt.Sprintf("%s %s the object, and %s waits until %s gone", phrase.And(names),
		phrase.Plural(len(names), "uses", "use"), core.Whoever(q.a), phrase.Plural(len(names), "that is", "those are"))
	switch {
	case waiting == 0:
		f.Remedy = fmt.Sprintf("%s %s being deleted: find out what %s for. Then %s removes the finalizer.",
			phrase.And(names), phrase.Plural(len(names), "is", "are"), phrase.Plural(len(names), "it waits", "they wait"),
			core.Whoever(q.a))
	case until != "" && late == waiting:
		f.Remedy = fmt.Sprintf("Delete %s: %s created after the object was deleted, and each waits for the other. Then %s removes the "+
			"finalizer.", phrase.And(names), phrase.Plural(waiting, "it was", "they were"), core.Whoever(q.a))
	case until != "":
		f.Remedy = fmt.Sprintf("Wait until %s, or delete %s: then %s removes the finalizer.", until, phrase.And(names),
			core.Whoever(q.a))
	case field != "":
		f.Remedy = fmt.Sprintf("Delete %s first, or remove the reference from its %s: then %s removes the finalizer.", phrase.And(names),
			field, core.Whoever(q.a))
	}
	f.Commands = append(f.Commands, e.ByHand(q.o, q.a))
	q.proven = true
	return []core.Finding{f}
}

// isLate reports whether a claim is to be made from a source that was being deleted before: the
// provisioner does not use that any more, and the source waits for the claim
// (https://github.com/kubernetes-csi/external-snapshotter/issues/747).
func isLate(u actor.User, source *unstructured.Unstructured) bool {
	deleted, made := source.GetDeletionTimestamp(), u.Object.GetCreationTimestamp()
	return u.Until != "" && u.Kind == "PersistentVolumeClaim" && deleted != nil && made.After(deleted.Time)
}

// agreed is what one more says, if that is what all of so many before it say; empty if it is not.
func agreed(before int, said, says string) string {
	if before > 0 && says != said {
		return ""
	}
	return says
}

// changeable is the field of the spec in which a custom resource names what it uses: it need not be
// deleted then. It is empty where that is another part of the object, or another object is to be deleted.
func changeable(u actor.User) string {
	field := u.NameField
	if !u.Items.IsZero() {
		field = u.Items.String() + "." + field
	}
	if !strings.HasPrefix(field, "spec.") || u.ForField != "" || cluster.BuiltIn(u.Object.GroupVersionKind().Group) ||
		metav1.GetControllerOf(u.Object) != nil {
		return ""
	}
	return field
}

// inUse begins the finding that others use an object.
func (q *question) inUse() core.Finding {
	return core.Finding{Code: core.InUse, Finalizer: q.a.Finalizer, Actor: q.a.Who, Cost: core.Cost(q.a),
		After: q.after()}
}

// saysInUse is for an object whose own conditions say that others use it, so that it is not
// deleted.
func (e holders) saysInUse(_ context.Context, q *question) []core.Finding {
	i := slices.IndexFunc(status.Conditions(q.o), status.Condition.InUse)
	if q.proven || i < 0 || q.o.GetDeletionTimestamp() == nil {
		return nil
	}
	c, f := status.Conditions(q.o)[i], q.inUse()
	f.Evidence = core.ObservedAt(cluster.Place(q.o, c.Field), e.Quoted(c))
	f.Args = []string{"{users}", "what condition " + c.Type + " names"}
	if c.Message != "" {
		f.Sentence = saying{what: "condition " + c.Type, message: c.Message}.sentence()
	}
	f.Commands = []core.Step{core.Describe().Safely("shows what uses it"), e.ByHand(q.o, q.a)}
	q.proven = true
	return []core.Finding{f}
}
