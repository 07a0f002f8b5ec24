package link

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Found is a link between two objects of a graph that one of them, the source, names in its
// content.
type Found struct {
	Definition *Definition
	// Source names End. An end that is not there is a virtual node of the graph.
	Source, End graph.ID
	// Field is where it stands in the source: spec.resourceRef.
	Field string
	// Effect is what the deletion of Owner does to Dependent.
	Effect Effect
	// Foreground says that the client sets the source's field of the policy so that the program
	// deletes in the foreground. Effect is what is then.
	Foreground bool
	// Kept says why the end stays all the same, in what the end has that says so; empty if nothing
	// does.
	Kept string
	// Wave is the number of the end's annotation that Waves of the definition names.
	Wave int
	// Halts says that the program deletes nothing for the source while the end is being deleted, though
	// the end be one that it keeps.
	Halts bool
	// Bound is the object that the end is bound to in place of the source, as "Database shop/db",
	// so that the program refuses to act; empty if it is bound to none.
	Bound string
	// Refused says why the program, or the account as which it acts, cannot delete the end, so that the
	// program does not let the source go either; empty if it can. Unsure says why it is not known
	// whether that account can, or is there.
	Refused, Unsure string
	// Account is the name of that ServiceAccount, in the namespace of the source; empty if the
	// program acts as itself.
	Account string
	// Confirmed says that the dependent says so too: that it names the source, is owned by it, or
	// is the source. Nobody who cannot write to an object makes it confirm a link. A link that is
	// not confirmed is shown, and is no reason to write to what it leads to.
	Confirmed bool
	// Recreation says how the end comes back if that is deleted while the source stays; nil if it
	// does not.
	Recreation *Recreation
	// Outside says that the source was read and is not among the objects of the graph, which has a
	// virtual node for it: it is in a namespace that was not listed.
	Outside bool
	// More says that the source names other ends by this link, and that these are not among the
	// links.
	More bool
}

// Owner is the side below which the other stands in a tree.
func (f Found) Owner() graph.ID {
	if f.Definition.OwnerSide() == End {
		return f.End
	}
	return f.Source
}

// Dependent is the other side.
func (f Found) Dependent() graph.ID {
	if f.Definition.OwnerSide() == End {
		return f.Source
	}
	return f.End
}

// Turn orders the links of an owner: the program deletes what is of the first turn first.
func (f Found) Turn() int { return f.Definition.Deletion.Turn - f.Wave }

// Deletes reports whether the deletion of the owner deletes the dependent.
func (f Found) Deletes() bool { return f.Tries() && f.Refused == "" }

// Tries reports whether the program at least tries to.
func (f Found) Tries() bool { return f.Effect.Deletes && f.Kept == "" && f.Bound == "" }

// Found returns the links below an object that objects name, in the order of their turns and then
// in that in which they were found.
func (l *Links) Found(owner graph.ID) []Found {
	if l == nil {
		return nil
	}
	return l.found[owner]
}

// Above returns the links above an object that objects name, by their owners.
func (l *Links) Above(dependent graph.ID) []Found {
	if l == nil {
		return nil
	}
	if l.above == nil {
		l.above = map[graph.ID][]Found{}
		for _, owner := range slices.Sorted(maps.Keys(l.found)) {
			for _, f := range l.found[owner] {
				l.above[f.Dependent()] = append(l.above[f.Dependent()], f)
			}
		}
	}
	return l.above[dependent]
}

// Belonging returns a function that says what belongs to some objects: they themselves, what lies
// inside them, what they own by ownerReferences, what confirmed links tie to them, and what belongs
// to that in turn. Whoever may act on the objects may act on that because of them, and on nothing
// to which an unconfirmed link alone leads. It is nil if there are no unconfirmed links, so that
// everything belongs to the objects that a deletion of them reaches.
func (l *Links) Belonging(objects []graph.ID) func(graph.ID) bool {
	if l == nil || !l.anyUnconfirmed() {
		return nil
	}
	belongs := make([]bool, l.g.Len())
	queue := append([]graph.ID{}, objects...)
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if belongs[id] {
			continue
		}
		belongs[id] = true
		for e := range l.g.Dependents(id) {
			queue = append(queue, e.Dependent)
		}
		queue = append(queue, l.Content(id)...)
		for _, f := range l.found[id] {
			if f.Confirmed {
				queue = append(queue, f.Dependent())
			}
		}
	}
	return func(id graph.ID) bool { return belongs[id] }
}

func (l *Links) anyUnconfirmed() bool {
	for _, found := range l.found {
		for _, f := range found {
			if !f.Confirmed {
				return true
			}
		}
	}
	return false
}

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

// ConfirmedBy reports whether the object that a link leads to names the source of the link: whoever
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
	if !ok || n.mayBe(source) {
		return ""
	}
	return graph.Located(n.Kind, n.Namespace, n.Name)
}

// ClaimedElsewhere says which object an end names in place of the source where Confirmed says, so that
// it stays; empty if that is the source, if the end names none, or if the link does not ask for it.
func (d *Definition) ClaimedElsewhere(end map[string]any, source Identity) string {
	if !d.Deletion.Claimed {
		return ""
	}
	other := ""
	for _, e := range d.Confirmed {
		for _, v := range e.Field.all(end) {
			found, _ := e.read(v) // what cannot be understood names nothing
			for _, n := range found {
				switch {
				case n.Name == "":
				case n.mayBe(source):
					return ""
				default:
					other = e.Field.String() + " names " + graph.Located(n.Kind, n.Namespace, n.Name)
				}
			}
		}
	}
	return other
}

// mayBe reports whether what is named can be a source: what it does not say does not count.
func (n Named) mayBe(source Identity) bool {
	return n.Name == source.Name && (n.Namespace == "" || n.Namespace == source.Namespace) &&
		(n.Kind == "" || n.Kind == source.Kind) && (!n.HasGroup || n.Group == source.Group)
}

// name reports whether an object names a source so.
func (e Ends) name(object map[string]any, source Identity) bool {
	if e.Form != Labels {
		named, _ := e.named(object) // what could be understood comes with an error
		return slices.ContainsFunc(named, func(n Named) bool { return n.is(source) })
	}
	m, ok, err := e.members(object)
	return err == nil && ok && m.has(source)
}

// is reports whether a source is what is named, by its group, kind, namespace and name, and by its
// uid if that is named.
func (n Named) is(source Identity) bool {
	return n.Name == source.Name && n.Kind == source.Kind && n.Group == source.Group &&
		(source.Namespace == "" || n.Namespace == source.Namespace) &&
		(n.UID == "" || n.UID == source.UID)
}

// has reports whether a source is one of the members.
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
