package actor

import (
	"context"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
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
	if !a.IsKnown {
		return
	}
	for _, t := range a.Known.Takes {
		u, left, err := f.leftBy(ctx, o, *a, t)
		if left {
			a.Untaken = append(a.Untaken, u)
		}
		if err != nil {
			a.note("whether it takes the object is not known: " + err.Error())
		}
	}
}

func (f *Finder) leftBy(ctx context.Context, o *unstructured.Unstructured, a Actor, t finalizer.Take) (u Untaken,
	left bool, err error) {
	by := o
	if t.Of != nil {
		needed, names := f.named(o, o.Object, *t.Of, filler(o, a.Known, a.Finalizer))
		if !names || needed.Type.Namespaced && needed.Namespace == "" {
			return u, false, nil
		}
		by, err = f.reader.GetObject(ctx, schema.GroupResource{Group: needed.Type.Group, Resource: needed.Type.Resource},
			needed.Namespace, needed.Name)
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
				Evidence: v1alpha1.Observation{Says: says, From: place(o, needed.Field)}}, true, nil
		}
	}
	wants, met := t.Met(by.Object)
	if met {
		return u, false, nil
	}
	u = Untaken{By: by, Wants: wants, Until: t.Until, Remedy: t.Remedy,
		Evidence: v1alpha1.Observation{From: place(by, "")}}
	u.Evidence.Says = fmt.Sprintf("of %s it does not hold that %s", title(by), wants)
	if c := t.Where[0]; len(t.Where) == 1 && !c.Field.IsZero() {
		says := "not set"
		if is, _ := c.Field.Text(by.Object); is != "" {
			says = strconv.Quote(is)
		}
		u.Evidence = v1alpha1.Observation{Says: fmt.Sprintf("%s of %s is %s", c.Field, title(by), says),
			From: place(by, c.Field.String())}
	}
	return u, true, nil
}
