package compare

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// extensions and definitions are the group and the resource of CustomResourceDefinitions.
const (
	extensions  = "apiextensions.k8s.io"
	definitions = "customresourcedefinitions"
)

// deleted says by what cascade an object went. An object with an owner that is still there was not
// deleted by the collector (GC-046): somebody deleted it itself.
func (c *comparison) deleted(id graph.ID) v1alpha1.DeletedObject {
	if known, ok := c.found[id]; ok {
		return known
	}
	g := c.before.Graph
	d := v1alpha1.DeletedObject{Object: g.Ref(id), Cause: v1alpha1.DeletedItself}
	c.found[id] = d // for a cycle of owners, which went by itself
	with, cause := c.cause(id)
	d.Cause = cause
	if with >= 0 {
		ref := g.Ref(with)
		d.With = &ref
		switch above := c.deleted(with); {
		case above.Top != nil:
			d.Top = above.Top
		case above.With != nil:
			d.Top = above.With
		}
		if d.Top != nil && d.Top.UID == d.Object.UID { // owners in a circle
			d.Top = nil
		}
	}
	c.found[id] = d
	return d
}

// cause returns what an object was deleted with, -1 for nothing, and why.
func (c *comparison) cause(id graph.ID) (graph.ID, v1alpha1.DeletionCause) {
	const nothing = graph.ID(-1)
	g, ref := c.before.Graph, c.before.Graph.Ref(id)
	gone, owned, kept, unknown := nothing, false, false, false
	for edge := range g.Owners(id) {
		owned = true
		owner := g.Ref(edge.Owner)
		_, there := c.after.has(owner.UID)
		switch {
		case there:
			kept = true
		case !g.Observed(edge.Owner):
			unknown = unknown || g.State(edge.Owner) != graph.Absent
		case !c.after.lacks(owner, c.before):
			unknown = true
		case gone < 0 || edge.Controller:
			gone = edge.Owner
		}
	}
	if with, cause := c.around(ref); with >= 0 && (gone < 0 || kept || unknown) {
		return with, cause
	}
	switch {
	case kept || !owned:
		return nothing, v1alpha1.DeletedItself
	case unknown:
		return nothing, v1alpha1.DeletedUnknown
	case gone >= 0:
		return gone, v1alpha1.DeletedWithOwner
	}
	return nothing, v1alpha1.DeletedAsDangling
}

// around returns the namespace of an object, or the definition of its type, that was deleted too.
func (c *comparison) around(ref v1alpha1.ObjectRef) (graph.ID, v1alpha1.DeletionCause) {
	g := c.before.Graph
	isGone := func(group, resource, name string) (graph.ID, bool) {
		id, ok := g.Find(group, resource, "", name)
		if !ok || !g.Observed(id) {
			return -1, false
		}
		of := g.Ref(id)
		_, there := c.after.has(of.UID)
		return id, !there && c.after.knows(of)
	}
	if ref.Namespace != "" {
		if id, gone := isGone("", "namespaces", ref.Namespace); gone {
			return id, v1alpha1.DeletedWithNamespace
		}
	}
	if ref.Group() != "" {
		if id, gone := isGone(extensions, definitions, ref.Resource+"."+ref.Group()); gone {
			return id, v1alpha1.DeletedWithDefinition
		}
	}
	return -1, ""
}
