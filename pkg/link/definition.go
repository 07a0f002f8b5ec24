package link

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Definition is a link that a pack describes: which objects name others in their content, how, and
// what the deletion of the one does to the others. The object that names is the source, what it
// names are the ends. Its slices must not be changed.
type Definition struct {
	// ID names the definition. One of the same ID that is loaded later takes its place.
	ID string `json:"id"`
	// Name is that of the edges in output: one word, as "composite".
	Name string `json:"name"`
	// From says which objects are sources.
	From From `json:"from"`
	// Ends says where a source names its ends.
	Ends []Ends `json:"ends"`
	// Deletion says what a deletion does. It is the zero value if it does nothing.
	Deletion Deletion `json:"deletion"`
	// Owner is the side that stands above the other in a tree where Deletion.Of is Neither: the
	// Source, or the End. Empty for the Source.
	Owner Direction `json:"owner,omitempty"`
	// Confirmed say where an end names its source, in the forms Reference, Text and Labels. Its
	// ownerReferences, and what it is bound to, are asked in any case.
	Confirmed []Ends `json:"confirmed,omitempty"`
	// Recreates says how an end comes back that is deleted while the source stays: the first of
	// which the source meets the conditions. Empty if it does not.
	Recreates []Recreation `json:"recreates,omitempty"`
	// Before says that the source is to be gone before its ends are deleted, because it needs them
	// until then.
	Before bool `json:"before,omitempty"`
	// Users say where a guard names the objects for which it keeps its end, and ReasonField is a
	// path to why it does, in words. Both are for Deletion.Of Guard.
	Users       []Ends `json:"users,omitempty"`
	ReasonField Path   `json:"reasonField,omitzero"`
	// DryRunWrites is what a webhook writes about an object that a guard keeps when somebody tries
	// to delete it, a dry run included. Nil if it writes nothing.
	DryRunWrites *DryRunWrites `json:"dryRunWrites,omitempty"`
	// Note is what else there is to say, in sentences.
	Note string `json:"note,omitempty"`
	// Verified says how the fields were checked: by the code at Source, or by the documentation
	// there.
	Verified Verified `json:"verified"`
	// Source is the https address where the fields were read.
	Source string `json:"source"`

	// Pack is the title of the pack.
	Pack string `json:"-"`
}

// DryRunWrites is what a webhook writes on dry runs, although it declares to the server that it
// does not.
type DryRunWrites struct {
	// Webhooks are its names, as the server gives them in a refusal.
	Webhooks []string `json:"webhooks"`
	// Label is that of the objects for which it is called.
	Label string `json:"label"`
	// Writes says what it writes, and where.
	Writes string `json:"writes"`
}

// From says which objects are the sources of a link.
type From struct {
	// Kinds are patterns; empty if Category says it.
	Kinds []graph.KindPattern `json:"kinds,omitempty"`
	// Category is one of discovery's, as "claim" of Crossplane.
	Category string `json:"category,omitempty"`
	// Where are conditions that the object meets, all of them.
	Where []Condition `json:"where,omitempty"`
}

// Recreation says how an end comes back.
type Recreation struct {
	// Where are conditions on the source, all of which have to be met.
	Where []Condition `json:"where,omitempty"`
	// By is the program that creates it, where that is not the one that deletes it.
	By string `json:"by,omitempty"`
	// With is what does it, as "the next helm upgrade". Empty if the program does it of its own
	// accord.
	With string `json:"with,omitempty"`
	// Namespace is where the source names a namespace that the program makes, too. Makes is that one.
	Namespace Path   `json:"namespace,omitzero"`
	Makes     string `json:"-"`
	// Needs is where the source names objects without which the program creates nothing. Needed are
	// those.
	Needs  []Ends  `json:"needs,omitempty"`
	Needed []Named `json:"-"`
}

// Matches reports whether objects of a kind can be sources. The group of the core is empty; the
// categories are those that discovery has for the kind.
func (f From) Matches(group, kind string, categories []string) bool {
	if f.Category != "" && !slices.Contains(categories, f.Category) {
		return false
	}
	return ofKinds(f.Kinds, group, kind)
}

// Labels returns a label selector that all sources match, which keeps a list of them short; empty
// if there is none.
func (f From) Labels() string {
	var terms []string
	for _, c := range f.Where {
		switch {
		case c.Label == "" || c.Empty || c.Has != "":
		case c.Value == "" && c.Not:
			terms = append(terms, "!"+c.Label)
		case c.Value == "":
			terms = append(terms, c.Label)
		case c.Not:
			terms = append(terms, c.Label+"!="+c.Value)
		default:
			terms = append(terms, c.Label+"="+c.Value)
		}
	}
	return strings.Join(terms, ",")
}

// SourceAnnotations returns the keys of annotations of which each source has one at least, and
// false if there are none: what has no such annotation need not be looked at.
func (d *Definition) SourceAnnotations() ([]string, bool) {
	for _, c := range d.From.Where {
		if c.Annotation != "" && !c.Not && !c.Empty {
			return []string{c.Annotation}, true
		}
	}
	var keys []string
	for _, e := range d.Ends {
		steps := e.field().steps
		if len(steps) < 3 || steps[0] != "metadata" || steps[1] != "annotations" {
			return nil, false
		}
		keys = append(keys, steps[2])
	}
	return keys, len(keys) > 0
}

// Anything reports whether objects of any kind can be sources, so that only those that a user has
// named are looked at.
func (f From) Anything() bool { return f.Category == "" && slices.Contains(f.Kinds, "*") }

// InMetadata reports whether the metadata of an object reports whether it is a source; false
// without conditions too, since then there is nothing to ask.
func (f From) InMetadata() bool {
	return len(f.Where) > 0 && !slices.ContainsFunc(f.Where, func(c Condition) bool { return !c.inMetadata() })
}

// MetadataOnly reports whether an object's metadata is all that the link needs of it.
func (d *Definition) MetadataOnly() bool {
	inContent := func(c Condition) bool { return !c.inMetadata() }
	return !slices.ContainsFunc(d.From.Where, inContent) &&
		!slices.ContainsFunc(d.Recreates, func(r Recreation) bool { return slices.ContainsFunc(r.Where, inContent) }) &&
		!slices.ContainsFunc(d.Ends, func(e Ends) bool { return !e.inMetadata() }) &&
		d.Deletion.PolicyField.IsZero() && d.Deletion.As.IsZero() && len(d.Deletion.Never) == 0 &&
		d.Deletion.Fails == nil &&
		!slices.ContainsFunc(d.Deletion.Keep, Keep.asksSource)
}

// Makes reports whether the ends are dependents of a kind.
func (d *Definition) Makes(group, kind string) bool {
	return slices.ContainsFunc(d.Ends, func(e Ends) bool {
		return e.Form == Dependents &&
			slices.ContainsFunc(e.Kinds, func(k graph.KindPattern) bool { return k.Matches(group, kind) })
	})
}

// OfDependents reports whether the ends are dependents.
func (d *Definition) OfDependents() bool {
	return slices.ContainsFunc(d.Ends, func(e Ends) bool { return e.Form == Dependents })
}

// LeavesNamespace reports whether a source can name an object in another namespace than its own.
func (d *Definition) LeavesNamespace() bool {
	return slices.ContainsFunc(d.Ends, func(e Ends) bool {
		switch {
		case e.Namespace != "" && e.Namespace != SourceNamespace, e.Form == Manifest:
			return true
		case e.Form == Text:
			return strings.Contains(e.Match, "(?P<namespace>")
		}
		return e.Form == Reference && !e.Field.IsZero() // an object has no namespace besides its own
	})
}

// inMetadata reports whether the metadata of a source says which ends these are.
func (e Ends) inMetadata() bool {
	if !e.Field.IsZero() {
		return e.Field.steps[0] == "metadata"
	}
	for _, path := range e.Keys { // of the source itself
		if !slices.Contains(metadataFields, path.steps[0]) {
			return false
		}
	}
	return !slices.ContainsFunc(placeholder.FindAllString(e.Labels+e.Name+e.Fields+string(e.Namespace), -1),
		func(p string) bool { return !strings.HasPrefix(p, "{metadata.") })
}

// IsName reports whether an object names another one by its own name.
func (e Ends) IsName() bool { return e.Form == Text && e.Field.String() == "metadata.name" }

// Ends says where a source names ends, and how.
type Ends struct {
	// Field is a path to what names them. An empty one is the source itself, of which Keys say
	// where it names one.
	Field Path `json:"field,omitzero"`
	// Decode says how the text there is encoded, the outermost encoding first, and In is a path
	// into what JSON it is in the end.
	Decode []Encoding `json:"decode,omitempty"`
	In     Path       `json:"in,omitzero"`
	// Form is what stands there.
	Form Form `json:"form"`
	// Kind is the kind of the ends, "apps/Deployment" or "v1/Pod", where they do not say it; of
	// references "*/Deployment", in the group of their apiVersion.
	Kind graph.KindPattern `json:"kind,omitempty"`
	// Keys are paths in each reference, by what they give, for where they are not called so:
	// apiVersion, group, kind, namespace, name and uid.
	Keys map[string]Path `json:"keys,omitempty"`
	// Optional says that an end need not exist: that it is not there is nothing to show.
	Optional bool `json:"optional,omitempty"`
	// Match is a regular expression for the whole of a text, whose groups are called as the keys
	// are.
	Match string `json:"match,omitempty"`
	// Replace says what stands for what in the name that Match gives.
	Replace map[string]string `json:"replace,omitempty"`
	// Labels is the label selector of the ends, in which a path between braces stands for what the
	// source has there.
	Labels string `json:"labels,omitempty"`
	// Name is the name that ends have which a label selector finds, in which a path between braces
	// stands for what the source has there; empty for any.
	Name string `json:"name,omitempty"`
	// Fields is a field selector of the ends, which the API server has for their kinds, in which a
	// path between braces stands for what the source has there. It goes with Labels or alone.
	Fields string `json:"fields,omitempty"`
	// Kinds are those of the ends that a selector finds, or that references can have; others are
	// passed over.
	Kinds []graph.KindPattern `json:"kinds,omitempty"`
	// Category is one of discovery's that the kind of an end has, if the server has the kind;
	// others are passed over. It is for references and instances.
	Category string `json:"category,omitempty"`
	// Where are conditions on each reference, all of which it meets; the others are passed over.
	Where []Condition `json:"where,omitempty"`
	// Namespace says where ends are that name no namespace, if their kind has namespaces; empty for
	// SourceNamespace.
	Namespace EndNamespace `json:"namespace,omitempty"`
}

// Form is how a source names its ends.
type Form string

// The forms.
const (
	// Reference: an object with apiVersion or group, kind, name and namespace.
	Reference Form = "reference"
	// Text: a name, or a text in which Match finds it.
	Text Form = "text"
	// Manifest: YAML documents, which are the ends.
	Manifest Form = "manifest"
	// Labels: a label selector, or a field selector, that the ends match.
	Labels Form = "labels"
	// Instances: a reference of a group and a kind, all objects of which are ends.
	Instances Form = "instances"
	// Dependents: the objects of some kinds of which the source is an owner. The
	// ownerReferences say it already: such a link only reports whether they come back.
	Dependents Form = "dependents"
)

// EndNamespace says in which namespace an end is that names none: one of the following, or the name
// of one, in which a path between braces stands for what the source has there.
type EndNamespace string

// The namespaces that are not named.
const (
	// SourceNamespace is that of the source.
	SourceNamespace EndNamespace = "source"
	// AnyNamespace is all of them; only a label selector can look there.
	AnyNamespace EndNamespace = "any"
)

// Encoding is how a text is encoded.
type Encoding string

// The encodings.
const (
	Base64 Encoding = "base64"
	Gzip   Encoding = "gzip"
	JSON   Encoding = "json"
)

// Verified is how a definition was checked.
type Verified string

// How a definition was checked.
const (
	BySource        Verified = "source"
	ByDocumentation Verified = "documentation"
)
