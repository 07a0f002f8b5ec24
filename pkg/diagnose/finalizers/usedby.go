package finalizers

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// used is for an object that others use, by the kinds that the pack names.
func (e *Examiner) used(ctx context.Context, q *question) []core.Finding {
	f := q.inUse()
	var names []string
	waiting := 0 // of the users, those that are not being deleted
	for _, u := range e.users(ctx, q.o, q.a) {
		ref, owner := e.Ref(u.o), ""
		if c := u.isFor(); c != nil {
			owner = fmt.Sprintf(", for %s %s", c.Kind, c.Name)
			if r, served := e.ownerKind(c); served {
				ref = core.RefTo(r.Type, "", c.Name)
				if r.Namespaced {
					ref.Namespace = u.o.GetNamespace()
				}
			}
		}
		state := ""
		step := core.Command("kubectl", "gc", "delete", "OBJECT",
			"--dry-run").Doing("shows what is deleted with it").Risking(finalizer.RiskNone)
		if u.o.GetDeletionTimestamp() != nil {
			state = ", and is being deleted"
			step = core.Command("kubectl", "gc", "why", "OBJECT").Doing("says why it is still there").Risking(finalizer.RiskNone)
		} else {
			waiting++
		}
		what := core.Named(e.Ref(u.o))
		if u.ForField != "" {
			what = core.Named(ref)
		}
		names = append(names, what)
		if len(names) > phrase.MaxNamed {
			continue
		}
		f.Evidence = append(f.Evidence,
			core.ObservedAt(core.From(u.o, u.NameField), fmt.Sprintf("%s uses it%s%s", core.Named(e.Ref(u.o)), owner, state))...)
		f.Commands = append(f.Commands, core.At(ref, step))
	}
	if len(names) == 0 {
		return nil
	}
	if more := len(names) - phrase.MaxNamed; more > 0 {
		f.Observe("%d more objects use it", more)
	}
	f.Args = []string{"{users}", phrase.And(names)}
	if waiting == 0 {
		f.Remedy = fmt.Sprintf("%s %s being deleted: find out what %s for. Then %s removes the finalizer.",
			phrase.And(names), phrase.Plural(len(names), "is", "are"), phrase.Plural(len(names), "it waits", "they wait"),
			core.Whoever(q.a))
	}
	f.Commands = append(f.Commands, e.ByHand(q.o, q.a))
	q.proven = true
	return []core.Finding{f}
}

// inUse begins the finding that others use an object.
func (q *question) inUse() core.Finding {
	return core.Finding{Code: core.InUse, Finalizer: q.a.Finalizer, Actor: q.a.Who, Cost: core.Cost(q.a)}
}

// user is an object that uses another, and how it says so.
type user struct {
	o *unstructured.Unstructured
	finalizer.Use
}

// isFor is the object for which a user is: its controller, or what it refers to.
func (u user) isFor() *metav1.OwnerReference {
	if c := metav1.GetControllerOf(u.o); c != nil || u.ForField == "" {
		return c
	}
	field := func(name string) string { return status.FieldOr(u.o, u.ForField+"."+name, "") }
	if field("kind") == "" || field("name") == "" {
		return nil
	}
	return &metav1.OwnerReference{APIVersion: field("apiVersion"), Kind: field("kind"), Name: field("name")}
}

// users returns the objects that use another, as far as they can be listed.
func (e *Examiner) users(ctx context.Context, o *unstructured.Unstructured, a actor.Actor) []user {
	if !a.IsKnown {
		return nil
	}
	var all []user
	for _, u := range a.Known.UsedBy {
		group, unfilled := a.Known.Fill(u.Group, actor.Fields(o, a.Finalizer))
		r, served := e.KindIn(group, u.Kind)
		if len(unfilled) > 0 || !served {
			continue
		}
		namespace := ""
		if r.Namespaced && u.Scope == finalizer.SameNamespace {
			namespace = o.GetNamespace()
		}
		list, err := e.Reader.ListObjects(ctx, schema.GroupResource{Group: r.Group, Resource: r.Resource}, namespace,
			cluster.Selection{})
		if err != nil {
			continue // and the reader has noted the gap
		}
		for _, by := range list {
			if namesAs(by, u, o) {
				all = append(all, user{by, u})
			}
		}
	}
	return all
}

// namesAs says whether an object names another as the one that it uses.
func namesAs(by *unstructured.Unstructured, u finalizer.Use, o *unstructured.Unstructured) bool {
	if status.FieldOr(by, u.NameField, u.Name) != o.GetName() {
		return false
	}
	if status.FieldOr(by, u.KindField, o.GetKind()) != o.GetKind() {
		return false
	}
	return u.Scope != finalizer.ByField || o.GetNamespace() == "" ||
		status.FieldOr(by, u.NamespaceField, by.GetNamespace()) == o.GetNamespace()
}

// ownerKind returns the type of an owner.
func (e *Examiner) ownerKind(owner *metav1.OwnerReference) (cluster.Resource, bool) {
	return e.KindIn((graph.Ref{APIVersion: owner.APIVersion}).Group(), owner.Kind)
}

// saysInUse is for an object whose own conditions say that others use it, so that it is not
// deleted.
func (e *Examiner) saysInUse(_ context.Context, q *question) []core.Finding {
	i := slices.IndexFunc(status.Conditions(q.o), status.Condition.InUse)
	if q.proven || i < 0 || q.o.GetDeletionTimestamp() == nil {
		return nil
	}
	c, f := status.Conditions(q.o)[i], q.inUse()
	f.Evidence = core.ObservedAt(core.From(q.o, c.Field), e.Quoted(c))
	f.Args = []string{"{users}", "what condition " + c.Type + " names"}
	f.Commands = []core.Step{core.Describe().Doing("shows what uses it").Risking(finalizer.RiskNone), e.ByHand(q.o, q.a)}
	q.proven = true
	return []core.Finding{f}
}
