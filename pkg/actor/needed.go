package actor

import (
	"context"

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
}

// Needed are the objects that the actor of a finalizer of an object needs by its pack, whether they exist or not. What only an object names that cannot be read is not
// among them. An actor that the object tells to leave what it manages outside the cluster needs nothing.
func (f *Finder) Needed(ctx context.Context, o *unstructured.Unstructured, a Actor) []Needed {
	if !a.IsKnown {
		return nil
	}
	if _, leaves := a.Known.Leaves(o.Object); leaves {
		return nil
	}
	fill := func(group string) (string, bool) {
		filled, unfilled := a.Known.Fill(group, Fields(o, a.Finalizer))
		return filled, len(unfilled) == 0
	}
	return f.neededBy(ctx, o, a.Known.Needs, fill)
}

// neededBy are the objects that one names of some that are needed, and those that these name in turn.
func (f *Finder) neededBy(ctx context.Context, o *unstructured.Unstructured, needs []finalizer.Need, fill func(string) (string, bool)) []Needed {
	var all []Needed
	for _, n := range needs {
		group, filled := fill(n.Group)
		t, served := f.reader.KindIn(group, status.FieldOr(o, n.KindField, n.Kind))
		name := status.FieldOr(o, n.NameField, n.Name)
		if !filled || !served || name == "" || !n.Applies(o.Object) {
			continue
		}
		needed := Needed{Type: t.Type, Name: name, NamedBy: o, Field: n.NameField}
		if t.Namespaced && n.Scope != finalizer.ClusterWide {
			needed.Namespace = status.FieldOr(o, n.NamespaceField, o.GetNamespace())
		}
		all = append(all, needed)
		if len(n.Needs) == 0 || t.Namespaced && needed.Namespace == "" {
			continue
		}
		if of, err := f.reader.GetObject(ctx, schema.GroupResource{Group: t.Group, Resource: t.Resource}, needed.Namespace, name); err == nil && of != nil {
			all = append(all, f.neededBy(ctx, of, n.Needs, fill)...)
		}
	}
	return all
}
