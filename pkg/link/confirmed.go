package link

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Identity identifies the object that has a link, for an end to name it.
type Identity struct {
	Group, Kind, Namespace, Name, UID string
	Labels                            map[string]string
}

// IdentityOf returns what identifies an object of a group and kind.
func IdentityOf(group, kind string, object metav1.Object) Identity {
	return Identity{
		Group: group, Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: string(object.GetUID()),
		Labels: object.GetLabels(),
	}
}

// ConfirmedBy says whether the object that a link leads to names the source of the link: whoever
// wrote the link need not have any rights on what it names. Where the source is the dependent it
// says of itself what it belongs to. A nil end is one that was not read, which confirms nothing.
func (d *Definition) ConfirmedBy(end map[string]any, source Identity) bool {
	if d.OwnerSide() == End {
		return true
	}
	if end == nil {
		return false
	}
	bound, has := d.BoundTo(end)
	return has && bound.is(source) || slices.ContainsFunc(d.Confirmed, func(e Ends) bool { return e.name(end, source) })
}

// BoundElsewhere returns what an end is bound to in place of the source, as "Database shop/db";
// empty if that is the source, or if the end does not say.
func (d *Definition) BoundElsewhere(end map[string]any, source Identity) string {
	n, ok := d.BoundTo(end)
	if !ok || n.Name == source.Name && (n.Namespace == "" || n.Namespace == source.Namespace) &&
		(n.Kind == "" || n.Kind == source.Kind) && (!n.HasGroup || n.Group == source.Group) {
		return ""
	}
	return graph.Located(n.Kind, n.Namespace, n.Name)
}

// name says whether an object names a source so.
func (e Ends) name(object map[string]any, source Identity) bool {
	if e.Form != Labels {
		named, _ := e.named(object) // what could be understood comes with an error
		return slices.ContainsFunc(named, func(n Named) bool { return n.is(source) })
	}
	m, ok, err := e.members(object)
	return err == nil && ok && m.has(source)
}

// is says whether a source is what is named, by its group, kind, namespace and name, and by its uid
// if that is named.
func (n Named) is(source Identity) bool {
	return n.Name == source.Name && n.Kind == source.Kind && n.Group == source.Group &&
		(source.Namespace == "" || n.Namespace == source.Namespace) &&
		(n.UID == "" || n.UID == source.UID)
}

// has says whether a source is one of the members.
func (m Members) has(source Identity) bool {
	selector, err := labels.Parse(m.Labels)
	return err == nil && selector.Matches(labels.Set(source.Labels)) && (m.Name == "" || m.Name == source.Name) &&
		(source.Namespace == "" || m.Namespace == source.Namespace) &&
		slices.ContainsFunc(m.Kinds, func(k graph.KindPattern) bool { return k.Matches(source.Group, source.Kind) })
}

// BoundTo returns the reference of its source that an end has; false if it has none, or if nothing
// says where.
func (d *Definition) BoundTo(end map[string]any) (Named, bool) {
	if d.Deletion.Bound.IsZero() {
		return Named{}, false
	}
	for _, v := range d.Deletion.Bound.all(end) {
		if n := (Ends{}).fromReference(v); n.Name != "" {
			return n, true
		}
	}
	return Named{}, false
}
