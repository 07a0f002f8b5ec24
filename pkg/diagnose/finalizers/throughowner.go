package finalizers

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// goneForAll is what is absent of what others name, for a custom resource too, and that are being
// deleted as it is: own are those of the API group of the object, as the infrastructure that the
// Cluster of a machine names (https://github.com/kairos-io/kairos/issues/4842), and others those of
// other groups of the domain, as the bootstrap data that a Machine names
// (https://github.com/k0sproject/k0smotron/issues/942). These may be gone in good order, as the
// control plane of a Cluster goes before its infrastructure.
type goneForAll struct {
	own, others []v1alpha1.Observation
	first       v1alpha1.ObjectRef
	other       string
}

// throughOwner looks at the controller of an object, and at what its labels and those of the
// controller name as that to which they belong, by what these name with group, kind and name.
func (e dependencies) throughOwner(ctx context.Context, o *unstructured.Unstructured) (g goneForAll) {
	group := o.GroupVersionKind().Group
	if cluster.BuiltIn(group) || e.Many {
		return g
	}
	looked := []v1alpha1.ObjectRef{e.Ref(o)}
	for _, by := range e.belongsTo(ctx, o) {
		spec, _, _ := unstructured.NestedMap(by.Object, "spec")
		for _, n := range namesIn(spec, "spec") {
			r, served := e.kindNamed(by.GroupVersionKind().Group, n)
			if !n.isTyped() || n.isMade() || !served || !cluster.OfOneDomain(r.Group, group) {
				continue
			}
			ref := n.refTo(r, o)
			same := func(l v1alpha1.ObjectRef) bool {
				return l.Kind == ref.Kind && l.Name == ref.Name && l.Group() == ref.Group()
			}
			if slices.ContainsFunc(looked, same) || !e.Absent(ctx, r.Type, ref) {
				continue
			}
			looked = append(looked, ref)
			seen := core.ObservedAt(cluster.Place(by, n.field), fmt.Sprintf("%s, to which it belongs and which is being deleted as well, "+
				"names %s in %s, which does not exist", cluster.Located(by), ref.Located(), n.field))
			if r.Group != group {
				g.others, g.other = append(g.others, seen...), ref.Located()
				continue
			}
			if g.own = append(g.own, seen...); g.first.Kind == "" {
				g.first = ref
			}
		}
	}
	return g
}

// belongsTo are the controller of an object and what its labels, or those of the controller, name,
// of the same domain, as far as these are being deleted.
func (e dependencies) belongsTo(ctx context.Context, o *unstructured.Unstructured) (all []*unstructured.Unstructured) {
	add := func(n namedIn) {
		r, served := e.Reader.KindIn(n.group, n.kind)
		if !served || !cluster.OfOneDomain(r.Group, o.GroupVersionKind().Group) {
			return
		}
		ref := n.refTo(r, o)
		gr := r.GroupResource()
		by, err := e.Reader.GetObject(ctx, gr, ref.Namespace, ref.Name)
		if err == nil && by != nil && by.GetDeletionTimestamp() != nil &&
			!slices.ContainsFunc(all, func(l *unstructured.Unstructured) bool { return l.GetUID() == by.GetUID() }) {
			all = append(all, by)
		}
	}
	if c := metav1.GetControllerOf(o); c != nil {
		add(namedIn{group: graph.Ref{APIVersion: c.APIVersion}.Group(), kind: c.Kind, name: c.Name})
	}
	for _, from := range append([]*unstructured.Unstructured{o}, all...) {
		for _, n := range e.namedInLabels(from) {
			add(n)
		}
	}
	return all
}
