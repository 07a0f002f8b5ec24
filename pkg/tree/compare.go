package tree

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Side is a listing, and what it is of.
type Side struct {
	v1alpha1.Moment
	Graph *graph.Graph
	Gaps  []v1alpha1.Gap
	// Serves reports whether the objects of a type are listed, unless it is a gap, and Omits
	// whether it is proven that the type is not served.
	Serves, Omits func(schema.GroupResource) bool
}

// comparison is of two listings, of which after is the later.
type comparison struct {
	before, after Side
	namespace     string
	found         map[graph.ID]v1alpha1.DeletedObject // by the object before
}

// Compare says what has changed between two listings of a namespace, with the object that is that
// namespace, or of all if it is empty.
func Compare(before, after Side, namespace string) *v1alpha1.Comparison {
	c := &comparison{before: before, after: after, namespace: namespace, found: map[graph.ID]v1alpha1.DeletedObject{}}
	out := &v1alpha1.Comparison{TypeMeta: v1alpha1.TypeMeta("Comparison"), Before: before.Moment, After: after.Moment, Gaps: both(before.Gaps, after.Gaps),
		Deleted: []v1alpha1.DeletedObject{}, Created: []v1alpha1.CreatedObject{}, Changed: []v1alpha1.ChangedObject{},
		Unknown: []v1alpha1.ObjectRef{}}
	out.Complete = len(out.Gaps) == 0
	for id := range before.Graph.IDs() {
		ref := before.Graph.Ref(id)
		if !before.Graph.Observed(id) || !c.covers(ref) {
			continue
		}
		other, there := after.has(ref.UID)
		switch {
		case there:
			if changed, is := c.changed(ref, id, other); is {
				out.Changed = append(out.Changed, changed)
			}
		case after.lacks(ref, before):
			out.Deleted = append(out.Deleted, c.deleted(id))
		default:
			out.Unknown = append(out.Unknown, ref)
		}
	}
	for id := range after.Graph.IDs() {
		ref := after.Graph.Ref(id)
		if _, there := before.has(ref.UID); there || !after.Graph.Observed(id) || !c.covers(ref) {
			continue
		}
		if !before.lacks(ref, after) {
			out.Unknown = append(out.Unknown, ref)
			continue
		}
		created := v1alpha1.CreatedObject{Object: ref}
		earlier, ok := before.Graph.Find(ref.Group(), ref.Resource, ref.Namespace, ref.Name)
		if ok && before.Graph.Observed(earlier) {
			created.Replaces = before.Graph.Ref(earlier).UID
		}
		out.Created = append(out.Created, created)
	}
	c.sort(out)
	return out
}

// covers returns whether an object is in the scope of the comparison.
func (c *comparison) covers(ref v1alpha1.ObjectRef) bool {
	return c.namespace == "" || ref.Namespace == c.namespace ||
		ref.Kind == "Namespace" && ref.Group() == "" && ref.Name == c.namespace
}

// sort puts what went together beside each other: the topmost object, then what went with it.
func (c *comparison) sort(out *v1alpha1.Comparison) {
	cascade := func(d v1alpha1.DeletedObject) v1alpha1.ObjectRef {
		switch {
		case d.Top != nil:
			return *d.Top
		case d.With != nil:
			return *d.With
		}
		return d.Object
	}
	slices.SortStableFunc(out.Deleted, func(a, b v1alpha1.DeletedObject) int {
		x, y := cascade(a), cascade(b)
		return cmp.Or(byPlace(x, y), below(a, x)-below(b, y), byPlace(a.Object, b.Object))
	})
	slices.SortStableFunc(out.Created, func(a, b v1alpha1.CreatedObject) int { return byPlace(a.Object, b.Object) })
	slices.SortStableFunc(out.Changed, func(a, b v1alpha1.ChangedObject) int { return byPlace(a.Object, b.Object) })
	slices.SortStableFunc(out.Unknown, byPlace)
}

// below is 0 for the topmost object of a cascade.
func below(d v1alpha1.DeletedObject, of v1alpha1.ObjectRef) int {
	if d.Object.UID == of.UID {
		return 0
	}
	return 1
}

func byPlace(a, b v1alpha1.ObjectRef) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Kind, b.Kind),
		strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
}

// both are the gaps of either listing, each once.
func both(a, b []v1alpha1.Gap) []v1alpha1.Gap {
	all := append([]v1alpha1.Gap{}, a...)
	for _, gap := range b {
		if !slices.ContainsFunc(all, func(known v1alpha1.Gap) bool {
			return known.Group == gap.Group && known.Resource == gap.Resource && known.Namespace == gap.Namespace
		}) {
			all = append(all, gap)
		}
	}
	return all
}

// has returns the object with a uid, if it was seen.
func (s Side) has(uid string) (graph.ID, bool) {
	id, ok := s.Graph.Lookup(uid)
	return id, ok && uid != "" && s.Graph.Observed(id)
}

// knows returns whether an object that was not seen was not there: its type was listed where it is,
// or is proven not to be served.
func (s Side) knows(ref v1alpha1.ObjectRef) bool {
	return s.Graph.Lists(ref.Group(), ref.Resource, ref.Namespace) || s.Omits(ref.GroupResource())
}

// lacks returns whether an object of another listing that was not seen was not there. That of a type
// that is not served was not if its CustomResourceDefinition, which the other has, was not: of a
// group that is not there discovery proves nothing (API-056).
func (s Side) lacks(ref v1alpha1.ObjectRef, other Side) bool {
	another, taken := s.Graph.Find(ref.Group(), ref.Resource, ref.Namespace, ref.Name)
	if s.knows(ref) || taken && s.Graph.Observed(another) { // another object has its name
		return true
	}
	if s.Serves(ref.GroupResource()) {
		return false
	}
	id, ok := cluster.DefinitionOf(other.Graph, graph.Type{Group: ref.Group(), Resource: ref.Resource})
	if !ok || !other.Graph.Observed(id) {
		return false
	}
	definition := other.Graph.Ref(id)
	_, there := s.Graph.Find(cluster.CRDs.Group, cluster.CRDs.Resource, "", definition.Name)
	return !there && s.knows(definition)
}

// changed compares an object that is there at both times.
func (c *comparison) changed(ref v1alpha1.ObjectRef, before, after graph.ID) (v1alpha1.ChangedObject, bool) {
	x, y := c.before.Graph, c.after.Graph
	out := v1alpha1.ChangedObject{Object: ref,
		OwnersAdded:       missing(owners(y, after), owners(x, before), uidOf),
		OwnersRemoved:     missing(owners(x, before), owners(y, after), uidOf),
		FinalizersAdded:   missing(y.Finalizers(after), x.Finalizers(before), itself),
		FinalizersRemoved: missing(x.Finalizers(before), y.Finalizers(after), itself)}
	if at := y.DeletionTimestamp(after); at != 0 && x.DeletionTimestamp(before) == 0 {
		out.DeletionTimestamp = &metav1.Time{Time: time.Unix(at, 0).UTC()}
	}
	return out, len(out.OwnersAdded)+len(out.OwnersRemoved)+len(out.FinalizersAdded)+len(out.FinalizersRemoved) > 0 ||
		out.DeletionTimestamp != nil
}

func owners(g *graph.Graph, id graph.ID) (refs []v1alpha1.ObjectRef) {
	for edge := range g.Owners(id) {
		ref := g.Ref(edge.Owner)
		ref.APIVersion, ref.Kind, ref.Name = edge.APIVersion, edge.Kind, edge.Name
		refs = append(refs, ref)
	}
	return refs
}

func uidOf(r v1alpha1.ObjectRef) string { return r.UID }
func itself(s string) string            { return s }

// missing are those of some that are not among others.
func missing[T any](of, others []T, key func(T) string) (not []T) {
	for _, x := range of {
		if !slices.ContainsFunc(others, func(y T) bool { return key(x) == key(y) }) {
			not = append(not, x)
		}
	}
	return not
}

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
		d.With = new(g.Ref(with))
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
		if id, gone := isGone(cluster.CRDs.Group, cluster.CRDs.Resource, ref.Resource+"."+ref.Group()); gone {
			return id, v1alpha1.DeletedWithDefinition
		}
	}
	return -1, ""
}
