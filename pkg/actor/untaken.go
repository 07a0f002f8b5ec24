package actor

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Untaken is why an actor leaves an object alone: what it says of who is to work on it, or a class
// that it names and that is another's, or does not exist.
type Untaken struct {
	// Missing names the object that does not exist, nil if it is not that.
	Missing *Needed
	// By is the object that says it; nil if it is Missing.
	By *unstructured.Unstructured
	// Wants is what it would have to say.
	Wants string
	// Until and Remedy are those of the pack.
	Until, Remedy string
	Evidence      v1alpha1.Observation
}

// Guessed says that only some versions of the actor leave the object alone.
func (u Untaken) Guessed() bool { return u.Until != "" && u.Missing == nil }

// addUntaken finds out why the actor of a finalizer leaves an object alone, by its pack, and says
// what that depends on and cannot be read.
func (f *Finder) addUntaken(ctx context.Context, o *unstructured.Unstructured, a *Actor) {
	if field, by, another := managedByAnother(o, a.Finalizer); another {
		a.Untaken = append(a.Untaken, Untaken{By: o, Wants: field + " names one of the group of the object, or is not set",
			Evidence: v1alpha1.Observation{From: cluster.Place(o, field),
				Says: fmt.Sprintf("its %s is %q: the controllers of its group leave it to that one", field, by)}})
	}
	if !a.IsKnown {
		return
	}
	for _, t := range a.Known.Takes {
		u, left, err := f.leftBy(ctx, o, *a, t)
		if left && !slices.ContainsFunc(a.Untaken, func(v Untaken) bool { return v.Evidence == u.Evidence }) {
			a.Untaken = append(a.Untaken, u)
		}
		if err != nil {
			a.note("whether it takes the object is not known: " + err.Error())
		}
	}
}

// managedByAnother reports whether a custom resource is left to a controller of another group than
// its own, and in which field: that is how Jobs say it, and what is like them
// (https://github.com/kubernetes-sigs/kueue/pull/1705,
// https://github.com/ray-project/kuberay/pull/4807). It is said to the controllers of that group,
// and not to who has put a finalizer of another domain there.
func managedByAnother(o *unstructured.Unstructured, finalizer string) (field, by string, another bool) {
	group := o.GroupVersionKind().Group
	if of, _, _ := strings.Cut(finalizer, "/"); cluster.BuiltIn(group) || strings.Contains(of, ".") && !ofOneGroup(of, group) {
		return "", "", false
	}
	for _, field := range []string{"spec.managedBy", "spec.runPolicy.managedBy"} {
		by := status.Nested(o, strings.Split(field, ".")...)
		if domain, _, names := strings.Cut(by, "/"); names && strings.Contains(domain, ".") {
			return field, by, !ofOneGroup(domain, group)
		}
	}
	return "", "", false
}

// ofOneGroup reports whether a domain has the first word of an API group, or that has the domain's.
func ofOneGroup(domain, group string) bool {
	a, b := strings.Split(domain, "."), strings.Split(group, ".")
	return slices.Contains(b, a[0]) || slices.Contains(a, b[0])
}

func (f *Finder) leftBy(ctx context.Context, o *unstructured.Unstructured, a Actor, t finalizer.Take) (u Untaken,
	left bool, err error) {
	by := o
	if t.Of != nil {
		needed, names := f.named(o, o.Object, *t.Of, filler(o, a.Known, a.Finalizer))
		if !names || needed.Type.Namespaced && needed.Namespace == "" {
			return u, false, nil
		}
		by, err = f.reader.GetObject(ctx, needed.Type.GroupResource(), needed.Namespace, needed.Name)
		switch {
		case err != nil:
			return u, false, fmt.Errorf("%s %s cannot be read: %s", needed.Type.Kind, needed.Name, message(err))
		case by == nil && t.IfAbsent:
			return u, false, nil
		case by == nil:
			wants, _ := t.Met(o.Object)
			says := fmt.Sprintf("%s %s does not exist", needed.Type.Kind, needed.Name)
			if needed.Field != "" {
				says = fmt.Sprintf("it names %s %s, which does not exist", needed.Type.Kind, needed.Name)
			}
			return Untaken{Missing: &needed, Wants: wants, Until: t.Until, Remedy: t.Remedy,
				Evidence: v1alpha1.Observation{Says: says, From: cluster.Place(o, needed.Field)}}, true, nil
		}
	}
	wants, met := t.Met(by.Object)
	if met {
		return u, false, nil
	}
	u = Untaken{By: by, Wants: wants, Until: t.Until, Remedy: t.Remedy,
		Evidence: v1alpha1.Observation{From: cluster.Place(by, "")}}
	u.Evidence.Says = fmt.Sprintf("of %s it does not hold that %s", cluster.Located(by), wants)
	switch c := t.Where[0]; {
	case len(t.Where) > 1:
	case c.Annotation != "" && by.GetAnnotations()[c.Annotation] != "":
		u.Evidence.Says = fmt.Sprintf("annotation %s of %s is %q", c.Annotation, cluster.Located(by), by.GetAnnotations()[c.Annotation])
	case !c.Field.IsZero():
		says := "not set"
		if is, _ := c.Field.Text(by.Object); is != "" {
			says = strconv.Quote(is)
		}
		u.Evidence = v1alpha1.Observation{Says: fmt.Sprintf("%s of %s is %s", c.Field, cluster.Located(by), says),
			From: cluster.Place(by, c.Field.String())}
	}
	return u, true, nil
}
