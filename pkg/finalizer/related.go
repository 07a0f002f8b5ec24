package finalizer

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Step is something to do before data is destroyed.
type Step struct {
	// Command is a command line, in which {namespace}, {name} and {type} stand for those of the
	// object.
	Command string `json:"command"`
	// Does is what it does, as a clause: "takes a backup of the database".
	Does string `json:"does"`
}

// Pause is where an object says that its actor ignores it: exactly one of an annotation, a label
// and a field, which is written with dots, as spec.suspend.
type Pause struct {
	Annotation string `json:"annotation,omitempty"`
	Label      string `json:"label,omitempty"`
	Field      string `json:"field,omitempty"`
	// Value is what it has to be, as text; empty if any will do.
	Value string `json:"value,omitempty"`
}

// Scope says in which namespace a related object is. It has no meaning for a kind that is
// cluster-scoped.
type Scope string

// The scopes.
const (
	// SameNamespace: in the namespace of the object.
	SameNamespace Scope = "same-namespace"
	// ClusterWide: the kind is cluster-scoped, or the object may be in any namespace.
	ClusterWide Scope = "cluster"
	// ByField: in the namespace that a field names, and in the object's own if the field is empty.
	ByField Scope = "field"
)

// Need is an object that the actor needs to do its work. Group may hold placeholders. Fields are
// those of the object that has the finalizer.
type Need struct {
	// Group is empty for the core. GroupField has an apiVersion instead.
	Group      string `json:"group,omitempty"`
	GroupField string `json:"groupField,omitempty"`
	// Kind is the kind, or what it is if KindField is given and empty in the object.
	Kind      string `json:"kind,omitempty"`
	KindField string `json:"kindField,omitempty"`
	// Name is the name, or what it is if NameField is given and empty in the object. Without one
	// nothing is needed then.
	Name           string `json:"name,omitempty"`
	NameField      string `json:"nameField,omitempty"`
	NamespaceField string `json:"namespaceField,omitempty"`
	// Items leads to the items of a list of which each names a needed object: the fields are those of
	// an item then.
	Items link.Path `json:"items,omitzero"`
	// Keys says that Items leads to a map, of which each key names a needed object as KIND/NAME: an item
	// has the fields kind and name then.
	Keys  bool  `json:"keys,omitempty"`
	Scope Scope `json:"scope"`
	// IfGone is what to do where it does not exist, in sentences, if that is not to create it again.
	IfGone string `json:"ifGone,omitempty"`
	// Where are conditions on the object that has the fields, all of which have to be met; without
	// any it is always needed.
	Where []link.Condition `json:"where,omitempty"`
	// Needs are what the needed object names and the actor needs, too. Their fields are those of
	// the needed object.
	Needs []Need `json:"needs,omitempty"`
}

// Names are the places where an object names what is needed: the items, or the object itself.
func (n Need) Names(object map[string]any) []map[string]any {
	items := itemsOr(n.Items, object)
	if !n.Keys {
		return items
	}
	var all []map[string]any
	for _, item := range items {
		for _, key := range slices.Sorted(maps.Keys(item)) {
			if kind, name, ok := strings.Cut(key, "/"); ok {
				all = append(all, map[string]any{"kind": kind, "name": name})
			}
		}
	}
	return all
}

func itemsOr(items link.Path, object map[string]any) []map[string]any {
	if items.IsZero() {
		return []map[string]any{object}
	}
	return items.Objects(object)
}

// At is where a field of the Need is in the object: "spec.secretStoreRefs[*].name".
func (n Need) At(field string) string {
	switch {
	case n.Items.IsZero():
		return field
	case n.Keys:
		return n.Items.String()
	}
	return n.Items.String() + "." + field
}

// Applies reports whether the actor needs it for the object that has the fields.
func (n Need) Applies(object map[string]any) bool { return link.AllMet(n.Where, object) }

// Leaves says in which words an object tells the actor to leave what it manages outside the
// cluster; false if it does not.
func (k Known) Leaves(object map[string]any) (string, bool) { return link.AnyMet(k.Spares, object) }

// Idles says in which words an object tells the actor to delete nothing; false if it does not.
func (k Known) Idles(object map[string]any) (string, bool) {
	if because, leaves := k.Leaves(object); leaves {
		return because, true
	}
	return link.AnyMet(k.DeletesNothing, object)
}

// Decision is exactly one of an annotation and a field.
type Decision struct {
	Annotation string    `json:"annotation,omitempty"`
	Field      link.Path `json:"field,omitzero"`
	// Of is the object that has it; nil for the object that has the finalizer.
	Of *Need `json:"of,omitempty"`
}

func (d Decision) path() link.Path {
	if d.Annotation != "" {
		return link.AnnotationPath(d.Annotation)
	}
	return d.Field
}

// String names it: spec.deletionPolicy of the VolumeSnapshotContent.
func (d Decision) String() string {
	what := d.path().String()
	if d.Annotation != "" {
		what = "annotation " + d.Annotation
	}
	if d.Of != nil {
		what += " of the " + d.Of.Kind
	}
	return what
}

// Value returns what an object has there, as JSON; empty if that is nothing.
func (d Decision) Value(object map[string]any) string { return d.path().JSON(object) }

// External is where an object names what it stands for outside the cluster: exactly one of an
// annotation and a field. A field of the items of a list names as many things.
type External struct {
	// Is says what it is, in the singular: "load balancer".
	Is         string    `json:"is"`
	Annotation string    `json:"annotation,omitempty"`
	Field      link.Path `json:"field,omitzero"`
}

func (e External) at() Decision { return Decision{Annotation: e.Annotation, Field: e.Field} }

// String names the field.
func (e External) String() string { return e.at().String() }

// Names are the names that an object has there.
func (e External) Names(object map[string]any) []string { return e.at().path().Texts(object) }

// Take is what an object says without which the actor leaves it alone: its class, as a rule.
type Take struct {
	// Of is the object that says it, such as the class that the object names; nil for the object
	// itself. Where it names none, nothing is known of who takes it.
	Of *Need `json:"of,omitempty"`
	// Where are the conditions, all of which have to be met.
	Where []link.Condition `json:"where"`
	// IfAbsent says that the actor takes the object also where Of does not exist.
	IfAbsent bool `json:"ifAbsent,omitempty"`
	// Until is the version from which on the actor takes the object all the same, as what follows
	// "before"; empty if there is none.
	Until string `json:"until,omitempty"`
	// Remedy is what to do about it, in sentences, where that is not to find out who takes the object.
	Remedy string `json:"remedy,omitempty"`
}

// Met says in which words an object meets the conditions; false, with what they want, if it does
// not.
func (t Take) Met(object map[string]any) (string, bool) {
	return link.Describe(t.Where), len(t.Where) > 0 && link.AllMet(t.Where, object)
}

func (t Take) check() []error {
	var errs link.Problems
	errs.Add(`"where": `, link.CheckAlternatives([][]link.Condition{t.Where})...)
	if t.Of != nil {
		return append(errs, t.Of.check()...)
	}
	if t.IfAbsent {
		errs.Add("", errors.New(`"ifAbsent" goes with "of", and only with that`))
	}
	return errs
}

// AtNode is where an object, or its finalizer, names the Node on which the actor does its work: only
// the part of the actor that runs there does it.
type AtNode struct {
	// Field leads to the name. Name is the name instead, and may hold placeholders.
	Field link.Path `json:"field,omitzero"`
	Name  string    `json:"name,omitempty"`
	// Where are conditions on the object, all of which have to be met; without any it is always
	// done there.
	Where []link.Condition `json:"where,omitempty"`
}

// NodeOf returns the name of the Node on which the actor does its work for an object; empty if it
// names none, or if the work is not done there.
func (k Known) NodeOf(object map[string]any, of Object) string {
	n := k.Node
	if n == nil || !link.AllMet(n.Where, object) {
		return ""
	}
	name, _ := n.Field.Text(object)
	if n.Name != "" {
		filled, unfilled := k.Fill(n.Name, of)
		if len(unfilled) == 0 {
			name = filled
		}
	}
	return name
}

func (n *AtNode) check() []error {
	errs := append(checkWhere(n.Where), checkPlaceholders(n.Name))
	if n.Field.IsZero() == (n.Name == "") {
		errs = append(errs, errors.New(`give exactly one of "field" and "name"`))
	}
	return errs
}

// Use is a kind of object that uses the one that has the finalizer. Group may hold placeholders.
// Fields are those of the objects that use it.
type Use struct {
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind"`
	// Items leads to the items of a list of which each names a used object: NameField and KindField
	// are fields of an item then.
	Items link.Path `json:"items,omitzero"`
	// NameField has the name of the used object. Name is what an empty one means.
	NameField string `json:"nameField"`
	Name      string `json:"name,omitempty"`
	// KindField has the kind of the used object, where it can be of several. An empty one means
	// any.
	KindField string `json:"kindField,omitempty"`
	// ForField refers, by apiVersion, kind and name, to the object for which the object is: that is
	// what has to be deleted.
	ForField       string `json:"forField,omitempty"`
	NamespaceField string `json:"namespaceField,omitempty"`
	Scope          Scope  `json:"scope"`
	// Where are conditions on an object that uses it, all of which have to be met; otherwise it uses
	// it no longer.
	Where []link.Condition `json:"where,omitempty"`
	// Until is with what the use ends by itself, as a clause: "it is bound". Empty if it does not.
	Until string `json:"until,omitempty"`
}

// Uses reports whether an object that names the used one uses it now.
func (u Use) Uses(object map[string]any) bool { return link.AllMet(u.Where, object) }

// Names are the places where an object names what it uses: the items, or the object itself.
func (u Use) Names(object map[string]any) []map[string]any { return itemsOr(u.Items, object) }

// Parent is the object on whose behalf a finalizer was put on another. Where it is gone, or selects
// the other no longer, nobody removes the finalizer.
type Parent struct {
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind"`
	// Name may hold placeholders.
	Name  string `json:"name"`
	Scope Scope  `json:"scope"`
	// Selectors are fields of the parent that say which objects it means: label selectors, lists of
	// them, or lists of names.
	Selectors []string `json:"selectors,omitempty"`
}

var scopes = []Scope{SameNamespace, ClusterWide, ByField}
