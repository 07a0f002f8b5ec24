package actor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Judge is Of, and finds out what of the object itself keeps its actor from removing the finalizer.
// Whoever says anything about a finalizer of an object asks it, so that all say the same.
func (f *Finder) Judge(ctx context.Context, o *unstructured.Unstructured, name string) (Actor, error) {
	a, err := f.Of(ctx, o, name)
	if err != nil {
		return Actor{}, err
	}
	return f.State(ctx, o, a)
}

// State adds to an actor, which may have been found at another object, what of this object keeps it
// from removing the finalizer: what uses the object, and where that says that it is to be ignored;
// and whether it is to delete nothing.
func (f *Finder) State(ctx context.Context, o *unstructured.Unstructured, a Actor) (Actor, error) {
	if a.IsKnown {
		f.findUsers(ctx, o, &a)
		switch {
		case len(a.Known.UsedBy) == 0:
		case a.UsersUnread != nil:
			a.note("whether anything uses it is not known: " + a.UsersUnread.Error())
		case len(a.Users) == 0 && o.GetDeletionTimestamp() != nil:
			a.note("no " + phrase.Or(phrase.Words(a.Known.UsedBy, lookedFor)) + " uses it now")
		}
		if because, idles := a.Known.Idles(o.Object); idles {
			a.Idles = because
			a.note("it deletes nothing that the object stands for: " + because)
		}
	}
	a.Pauses = f.Paused(ctx, o, a)
	f.addUntaken(ctx, o, &a)
	if ctx.Err() != nil {
		return Actor{}, context.Cause(ctx)
	}
	return a, nil
}

// lookedFor names the objects among which users were looked for.
func lookedFor(u finalizer.Use) string {
	if u.Scope == finalizer.SameNamespace {
		return u.Kind + " in its namespace"
	}
	return u.Kind
}

// CanBeInUse says whether the finalizer keeps an object while others use it.
func (a Actor) CanBeInUse() bool {
	own := []string{PVCFinalizer, VolumeFinalizer, SnapshotSourceFinalizer, RangeFinalizer}
	return len(a.Known.UsedBy) > 0 || slices.Contains(own, a.Finalizer)
}

// Ignores says why an actor that lives does not act on an object; nil if nothing says that.
func (a Actor) Ignores(o *unstructured.Unstructured) []v1alpha1.Observation {
	var all []v1alpha1.Observation
	for _, p := range a.Pauses {
		all = append(all, p.Observation(o))
	}
	for _, u := range a.Untaken {
		all = append(all, u.Evidence)
	}
	for _, s := range a.NotWatching(o) {
		all = append(all, s.Observation())
	}
	return all
}

// Stopped says by what it is known that kube-controller-manager, which runs the garbage collector,
// does not run; nil if it runs, or if that is not known.
func (f *Finder) Stopped(ctx context.Context) ([]string, error) {
	a, err := f.Collector(ctx)
	if err != nil || a.Life != Dead {
		return nil, err
	}
	return a.Says(), nil
}

// Collector is who runs the garbage collector, by what is known of a finalizer that it removes.
func (f *Finder) Collector(ctx context.Context) (Actor, error) {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	return f.Of(ctx, o, foregroundFinalizer)
}

const foregroundFinalizer = "foregroundDeletion"

// Untaken is why an actor leaves an object alone: what it says of who is to work on it, or a class
// that it names and that is another's, or does not exist.
type Untaken struct {
	// Missing names the object that does not exist, nil if it is not that.
	Missing *Needed
	// By is the object that says it; nil if it is Missing.
	By *unstructured.Unstructured
	// Wants is what it would have to say.
	Wants    string
	Evidence v1alpha1.Observation
}

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
		needed, names := f.named(o, *t.Of, filler(o, a.Known, a.Finalizer))
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
			return Untaken{Missing: &needed, Wants: wants, Evidence: v1alpha1.Observation{
				Says: fmt.Sprintf("it names %s %s, which does not exist", needed.Type.Kind, needed.Name),
				From: place(o, needed.Field)}}, true, nil
		}
	}
	wants, met := t.Met(by.Object)
	if met {
		return u, false, nil
	}
	u = Untaken{By: by, Wants: wants, Evidence: v1alpha1.Observation{From: place(by, "")}}
	u.Evidence.Says = fmt.Sprintf("of %s it does not hold that %s", title(by), wants)
	if c := t.Where[0]; len(t.Where) == 1 && !c.Field.IsZero() {
		is, _ := c.Field.Text(by.Object)
		u.Evidence = v1alpha1.Observation{Says: fmt.Sprintf("%s of %s is %q", c.Field, title(by), is),
			From: place(by, c.Field.String())}
	}
	return u, true, nil
}

// reported looks at what this cluster hears of where an actor runs, in a condition of the object that
// stands for that place. The actor lives while the condition is True, and is dead once it has been
// anything else for longer than patience. The evidence says what the condition is about, which may be
// something beside the actor. reported is false, and other signs count, where the report is one of
// those objects only that meet its Where, and there is none.
func (s *search) reported(ctx context.Context, by finalizer.Report) bool {
	name, unfilled := s.known.Fill(by.Name, Fields(s.about, ""))
	t, served := s.reader.KindIn(by.Group, by.Kind)
	if len(unfilled) > 0 || !served {
		if len(by.Where) == 0 {
			s.missed("%s, which would say what is heard of it, is not known", by.Kind)
		}
		return len(by.Where) == 0
	}
	o, err := s.reader.GetObject(ctx, schema.GroupResource{Group: t.Group, Resource: t.Resource}, "", name)
	switch {
	case err != nil:
		s.missed("%s %s cannot be read: %v", by.Kind, name, err)
		return true
	case o == nil:
		s.add(Sign{Life: Unknown, Says: fmt.Sprintf("%s %s, which would say what is heard of it, does not exist", by.Kind, name)})
		return true
	case !by.Counts(o.Object):
		return false
	}
	s.found, s.reporter = true, o
	c, said := status.Find(o, by.Condition)
	sign := Sign{Life: Unknown, From: place(o, "status.conditions"),
		Says: fmt.Sprintf("%s has no condition %s", title(o), by.Condition)}
	if said {
		past := s.now().Sub(c.Since)
		sign.Says = fmt.Sprintf("condition %s of %s is %s", by.Condition, title(o), c.Status)
		if !c.Since.IsZero() {
			sign.Says += " for " + phrase.Ago(past)
		}
		if c.Message != "" {
			sign.Says += ": " + strings.TrimSuffix(c.Message, ".")
		}
		sign.Says += "; it is about the " + by.About
		switch {
		case c.Status == "True":
			sign.Life = Alive
		case c.Since.IsZero() || past < patience:
			sign.starting = true
		default:
			sign.Life = Dead
		}
	}
	s.add(sign)
	return true
}

// Needed is an object without which an actor cannot do its work for another one.
type Needed struct {
	Type graph.Type
	// Namespace is empty of a namespaced type if it may be in any.
	Namespace, Name string
	// NamedBy is the object that names it, in Field: the other one, or one that is needed for that.
	NamedBy *unstructured.Unstructured
	Field   string
}

// Needed are the objects that the actor of a finalizer of an object needs by its pack, whether they
// exist or not. What only an object names that cannot be read is not among them. An actor that the
// object tells to leave what it manages outside the cluster needs nothing.
func (f *Finder) Needed(ctx context.Context, o *unstructured.Unstructured, a Actor) []Needed {
	if !a.IsKnown {
		return nil
	}
	if _, leaves := a.Known.Leaves(o.Object); leaves {
		return nil
	}
	return f.neededBy(ctx, o, a.Known.Needs, filler(o, a.Known, a.Finalizer))
}

// Deletes says whether one of some objects that an object names, or of those that these name in
// turn, is being deleted. The error is that of one that could not be read, if none of the others is.
func (f *Finder) Deletes(ctx context.Context, o *unstructured.Unstructured, a Actor, named []finalizer.Need) (bool,
	error) {
	var unread error
	for _, n := range f.neededBy(ctx, o, named, filler(o, a.Known, a.Finalizer)) {
		of, err := f.reader.GetObject(ctx, schema.GroupResource{Group: n.Type.Group, Resource: n.Type.Resource}, n.Namespace,
			n.Name)
		if err == nil && of != nil && of.GetDeletionTimestamp() != nil {
			return true, nil
		}
		unread = cmp.Or(unread, err)
	}
	return false, unread
}

// filler fills a group or a name with what is known of an object; false if that is not enough.
func filler(o *unstructured.Unstructured, known finalizer.Known, name string) func(string) (string, bool) {
	return func(pattern string) (string, bool) {
		filled, unfilled := known.Fill(pattern, Fields(o, name))
		return filled, len(unfilled) == 0
	}
}

// Deciding returns the object that has a field by which an actor decides, as the object with its
// finalizer names it: nil if it names none, or if the one that it names is proven to be absent.
// That its kind is not served proves nothing.
func (f *Finder) Deciding(ctx context.Context, o *unstructured.Unstructured, known finalizer.Known, name string,
	of finalizer.Need) (*unstructured.Unstructured, error) {
	if called := status.FieldOr(o, of.NameField, of.Name); called == "" || !of.Applies(o.Object) {
		return nil, nil
	}
	needed, ok := f.named(o, of, filler(o, known, name))
	if !ok {
		return nil, fmt.Errorf("the kind %s is not served", of.Kind)
	}
	return f.reader.GetObject(ctx, schema.GroupResource{Group: needed.Type.Group, Resource: needed.Type.Resource},
		needed.Namespace, needed.Name)
}

// named returns what an object names of a kind that is needed; false if it names nothing, or what
// is not served.
func (f *Finder) named(o *unstructured.Unstructured, n finalizer.Need,
	fill func(string) (string, bool)) (Needed, bool) {
	group, filled := fill(n.Group)
	t, served := f.reader.KindIn(group, status.FieldOr(o, n.KindField, n.Kind))
	otherwise, said := fill(n.Name)
	name := status.FieldOr(o, n.NameField, otherwise)
	if !filled || !said && name == otherwise || !served || name == "" || !n.Applies(o.Object) {
		return Needed{}, false
	}
	needed := Needed{Type: t.Type, Name: name, NamedBy: o, Field: n.NameField}
	if t.Namespaced && n.Scope != finalizer.ClusterWide {
		needed.Namespace = status.FieldOr(o, n.NamespaceField, o.GetNamespace())
	}
	return needed, true
}

// neededBy are the objects that one names of some that are needed, and those that these name in
// turn.
func (f *Finder) neededBy(ctx context.Context, o *unstructured.Unstructured, needs []finalizer.Need,
	fill func(string) (string, bool)) []Needed {
	var all []Needed
	for _, n := range needs {
		needed, ok := f.named(o, n, fill)
		if !ok {
			continue
		}
		all = append(all, needed)
		t := needed.Type
		if len(n.Needs) == 0 || t.Namespaced && needed.Namespace == "" {
			continue
		}
		if of, err := f.reader.GetObject(ctx, schema.GroupResource{Group: t.Group, Resource: t.Resource}, needed.Namespace,
			needed.Name); err == nil && of != nil {
			all = append(all, f.neededBy(ctx, of, n.Needs, fill)...)
		}
	}
	return all
}
