package finalizer

import "github.com/kubectl-gc/kubectl-gc/pkg/link"

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
	// Group is empty for the core.
	Group string `json:"group,omitempty"`
	// Kind is the kind, or what it is if KindField is given and empty in the object.
	Kind      string `json:"kind,omitempty"`
	KindField string `json:"kindField,omitempty"`
	// Name is the name, or what it is if NameField is given and empty in the object. Without one
	// nothing is needed then.
	Name           string `json:"name,omitempty"`
	NameField      string `json:"nameField,omitempty"`
	NamespaceField string `json:"namespaceField,omitempty"`
	Scope          Scope  `json:"scope"`
	// Where are conditions on the object that has the fields, all of which have to be met; without
	// any it is always needed.
	Where []link.Condition `json:"where,omitempty"`
	// Needs are what the needed object names and the actor needs, too. Their fields are those of
	// the needed object.
	Needs []Need `json:"needs,omitempty"`
}

// Applies says whether the actor needs it for the object that has the fields.
func (n Need) Applies(object map[string]any) bool {
	if len(n.Where) == 0 {
		return true
	}
	_, met := link.AnyMet([][]link.Condition{n.Where}, object)
	return met
}

// Leaves says in which words an object tells the actor to leave what it manages outside the
// cluster; false if it does not.
func (k Known) Leaves(object map[string]any) (string, bool) { return link.AnyMet(k.Spares, object) }

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

// Use is a kind of object that uses the one that has the finalizer. Group may hold placeholders.
// Fields are those of the objects that use it.
type Use struct {
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind"`
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
}

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
