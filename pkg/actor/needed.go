package actor

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Needed is an object without which an actor cannot do its work for another one.
type Needed struct {
	Type graph.Type
	// Namespace is empty of a namespaced type if it may be in any.
	Namespace, Name string
	// NamedBy is the object that names it, in Field: the other one, or one that is needed for that.
	NamedBy *unstructured.Unstructured
	Field   string
	// IfGone is what to do where it does not exist, if that is not to create it again.
	IfGone string
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
	return f.Named(ctx, o, a, a.Known.Needs)
}

// Deletes says whether one of some objects that an object names, or of those that these name in
// turn, is being deleted. The error is that of one that could not be read, if none of the others is.
func (f *Finder) Deletes(ctx context.Context, o *unstructured.Unstructured, a Actor, named []finalizer.Need) (bool,
	error) {
	var unread error
	for _, n := range f.Named(ctx, o, a, named) {
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
	needed, ok := f.named(o, o.Object, of, filler(o, known, name))
	if !ok {
		return nil, fmt.Errorf("the kind %s is not served", of.Kind)
	}
	return f.reader.GetObject(ctx, schema.GroupResource{Group: needed.Type.Group, Resource: needed.Type.Resource},
		needed.Namespace, needed.Name)
}

// named returns what an object names in one place, itself or an item of a list, of a kind that is needed;
// false if it names nothing, or what is not served.
func (f *Finder) named(o *unstructured.Unstructured, place map[string]any, n finalizer.Need,
	fill func(string) (string, bool)) (Needed, bool) {
	at := &unstructured.Unstructured{Object: place}
	group, filled := fill(n.Group)
	if n.GroupField != "" {
		group = graph.Ref{APIVersion: status.FieldOr(at, n.GroupField, "")}.Group()
	}
	t, served := f.reader.KindIn(group, status.FieldOr(at, n.KindField, n.Kind))
	otherwise, said := fill(n.Name)
	name := status.FieldOr(at, n.NameField, otherwise)
	if !filled || !said && name == otherwise || !served || name == "" || !n.Applies(o.Object) {
		return Needed{}, false
	}
	needed := Needed{Type: t.Type, Name: name, NamedBy: o, Field: n.At(n.NameField), IfGone: n.IfGone}
	if t.Namespaced && n.Scope != finalizer.ClusterWide {
		needed.Namespace = status.FieldOr(at, n.NamespaceField, o.GetNamespace())
	}
	return needed, true
}

// neededBy are the objects that one names of some that are needed, and those that these name in
// turn.
func (f *Finder) neededBy(ctx context.Context, o *unstructured.Unstructured, needs []finalizer.Need,
	fill func(string) (string, bool)) []Needed {
	var all []Needed
	for _, n := range needs {
		for _, place := range n.Names(o.Object) {
			if needed, ok := f.named(o, place, n, fill); ok {
				all = append(append(all, needed), f.neededInTurn(ctx, needed, n.Needs, fill)...)
			}
		}
	}
	return all
}

// neededInTurn are the objects that one that is needed names.
func (f *Finder) neededInTurn(ctx context.Context, needed Needed, needs []finalizer.Need,
	fill func(string) (string, bool)) []Needed {
	t := needed.Type
	if len(needs) == 0 || t.Namespaced && needed.Namespace == "" {
		return nil
	}
	of, err := f.reader.GetObject(ctx, schema.GroupResource{Group: t.Group, Resource: t.Resource}, needed.Namespace,
		needed.Name)
	if err != nil || of == nil {
		return nil
	}
	return f.neededBy(ctx, of, needs, fill)
}

// Named are the objects that one names of some kinds, and those that these name in turn.
func (f *Finder) Named(ctx context.Context, o *unstructured.Unstructured, a Actor, of []finalizer.Need) []Needed {
	return f.neededBy(ctx, o, of, filler(o, a.Known, a.Finalizer))
}
