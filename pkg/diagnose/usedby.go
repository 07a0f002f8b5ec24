package diagnose

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// used is for an object that others use, by the kinds that the pack names.
func (e *finalizers) used(ctx context.Context, o *unstructured.Unstructured, a actor.Actor) (finding, bool) {
	f := finding{code: InUse, finalizer: a.Finalizer, actor: a.Who, cost: cost(a)}
	var names []string
	waiting := 0 // of the users, those that are not being deleted
	for _, u := range e.users(ctx, o, a) {
		ref, owner := e.ref(u.o), ""
		if c := u.isFor(); c != nil {
			owner = fmt.Sprintf(", for %s %s", c.Kind, c.Name)
			if r, served := e.ownerKind(c); served {
				ref = refTo(r.Type, "", c.Name)
				if r.Namespaced {
					ref.Namespace = u.o.GetNamespace()
				}
			}
		}
		state := ""
		step := command("kubectl", "gc", "delete", "OBJECT", "--dry-run").doing("shows what is deleted with it").risking(finalizer.RiskNone)
		if u.o.GetDeletionTimestamp() != nil {
			state = ", and is being deleted"
			step = command("kubectl", "gc", "why", "OBJECT").doing("says why it is still there").risking(finalizer.RiskNone)
		} else {
			waiting++
		}
		what := named(e.ref(u.o))
		if u.ForField != "" {
			what = named(ref)
		}
		names = append(names, what)
		if len(names) > phrase.MaxNamed {
			continue
		}
		f.evidence = append(f.evidence, observedAt(from(u.o, u.NameField), fmt.Sprintf("%s uses it%s%s", named(e.ref(u.o)), owner, state))...)
		f.commands = append(f.commands, at(ref, step))
	}
	if len(names) == 0 {
		return finding{}, false
	}
	if more := len(names) - phrase.MaxNamed; more > 0 {
		f.evidence = append(f.evidence, observed(fmt.Sprintf("%d more objects use it", more))...)
	}
	f.remedy = fmt.Sprintf("Delete %s first: then %s removes the finalizer.", phrase.And(names), whoever(a))
	if waiting == 0 {
		f.remedy = fmt.Sprintf("%s %s being deleted: find out what %s for. Then %s removes the finalizer.",
			phrase.And(names), phrase.Plural(len(names), "is", "are"), phrase.Plural(len(names), "it waits", "they wait"), whoever(a))
	}
	f.commands = append(f.commands, e.byHand(o, a))
	return f, true
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
func (e *finalizers) users(ctx context.Context, o *unstructured.Unstructured, a actor.Actor) []user {
	if !a.IsKnown {
		return nil
	}
	var all []user
	for _, u := range a.Known.UsedBy {
		group, unfilled := a.Known.Fill(u.Group, actor.Fields(o, a.Finalizer))
		r, served := e.kindIn(group, u.Kind)
		if len(unfilled) > 0 || !served {
			continue
		}
		namespace := ""
		if r.Namespaced && u.Scope == finalizer.SameNamespace {
			namespace = o.GetNamespace()
		}
		list, err := e.reader.ListObjects(ctx, schema.GroupResource{Group: r.Group, Resource: r.Resource}, namespace, cluster.Selection{})
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
	return u.Scope != finalizer.ByField || o.GetNamespace() == "" || status.FieldOr(by, u.NamespaceField, by.GetNamespace()) == o.GetNamespace()
}

// ownerKind returns the type of an owner.
func (e *finalizers) ownerKind(owner *metav1.OwnerReference) (cluster.Resource, bool) {
	ref := v1alpha1.ObjectRef{APIVersion: owner.APIVersion}
	group, _, grouped := strings.Cut(ref.APIVersion, "/")
	if !grouped {
		group = ""
	}
	return e.kindIn(group, owner.Kind)
}
