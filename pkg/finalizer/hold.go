package finalizer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Hold is where an object says that the actor waits for somebody else before it goes on: exactly
// one of Items, Annotation, Kind, UntilGone, Says, and Node or Warning, which go together, as Items and
// Says may.
type Hold struct {
	// Group and Kind are of objects that belong to the object, of which each that meets Each holds
	// it. At one of NamedAt they have its name, perhaps after its namespace and "_", and before a
	// colon and more. They are in its namespace, or in one that it names at Namespaces: those who
	// write elsewhere have no say in what holds it.
	Group      string      `json:"group,omitempty"`
	Kind       string      `json:"kind,omitempty"`
	NamedAt    []link.Path `json:"namedAt,omitempty"`
	Namespaces []link.Path `json:"namespaces,omitempty"`
	// Items leads to the items of a list of the object, of which each that meets Each holds it.
	Items link.Path        `json:"items,omitzero"`
	Each  []link.Condition `json:"each,omitempty"`
	// Annotation is how the keys of annotations of the object begin, each of which holds it until it
	// is removed. Its value is who is to remove it.
	Annotation string `json:"annotation,omitempty"`
	// Node leads to the name of a Node that the actor drains, which is held by each pod there that
	// meets Each, and by each that a PodDisruptionBudget keeps. Pods that tolerate Taint are not
	// evicted.
	Node  link.Path `json:"node,omitzero"`
	Taint string    `json:"taint,omitempty"`
	// Says leads to a text that says what keeps the actor: in each of Items that meets Each, if there
	// are any.
	Says link.Path `json:"says,omitzero"`
	// Warning is the reason of a Warning event since the deletion that says what keeps the actor, or
	// a part of its message: an event about the object, or with Node about that Node. It counts where
	// nothing else is seen to hold the object.
	Warning string `json:"warning,omitempty"`
	// Shared says that the actor does its work once for all objects of the kind that have the same
	// finalizer, so that a Warning about any of them counts.
	Shared bool `json:"shared,omitempty"`
	// UntilGone are objects that the object names, each of which holds it until it is gone.
	UntilGone []Need `json:"untilGone,omitempty"`
	// UnlessDeleted are objects that the object names, and those that these name in turn. The actor
	// does not wait while one of them is being deleted.
	UnlessDeleted []Need `json:"unlessDeleted,omitempty"`
	// Where are conditions on the object, all of which have to be met; without any it is always
	// held.
	Where []link.Condition `json:"where,omitempty"`
	// Approval is an annotation of the object with the time at which somebody let the actor go on,
	// which counts if it is not before the deletion.
	Approval string `json:"approval,omitempty"`
	// Waits is what the actor waits for, as a clause, and Remedy what to do, in sentences. {held}
	// stands for what holds the object, and {actor} for the actor.
	Waits  string `json:"waits"`
	Remedy string `json:"remedy"`
}

// Warned reports whether an event is the one of the Warning.
func (h Hold) Warned(reason, message string) bool {
	return h.Warning != "" && (reason == h.Warning || strings.Contains(message, h.Warning))
}

// Held names what holds an object: "annotations x.example.com/*".
func (h Hold) Held() string {
	each := ""
	if len(h.Each) > 0 {
		each = " of which " + link.Describe(h.Each)
	}
	switch {
	case h.Annotation != "":
		return "annotations " + h.Annotation + "*"
	case len(h.UntilGone) > 0:
		return "what it names at " + phrase.And(phrase.Words(h.UntilGone, func(n Need) string { return n.At(n.NameField) })) +
			", until that is gone"
	case h.Kind != "":
		return "objects of kind " + h.Kind + " that belong to it," + each
	case !h.Says.IsZero():
		return "what " + h.Said() + " says" + each
	case h.Warning != "" && h.Shared:
		return "warnings " + h.Warning + " since the deletion, also about others with the finalizer"
	case h.Warning != "":
		return "warnings " + h.Warning + " since the deletion"
	case !h.Node.IsZero():
		return "pods on the Node at " + h.Node.String() + each + ", or that a PodDisruptionBudget keeps"
	}
	return "items of " + h.Items.String() + each
}

// Applies reports whether what is said there holds the object now.
func (h Hold) Applies(object map[string]any) bool {
	return link.AllMet(h.Where, object)
}

// Meets says in which words an object meets Each; false if it does not.
func (h Hold) Meets(object map[string]any) (string, bool) {
	return link.AnyMet([][]link.Condition{h.Each}, object)
}

// Belongs reports whether an object of the Kind belongs to the one of a name, and holds it.
func (h Hold) Belongs(object map[string]any, namespace, name string) bool {
	_, met := h.Meets(object)
	return met && slices.ContainsFunc(h.NamedAt, func(p link.Path) bool {
		text, _ := p.Text(object)
		text, _, _ = strings.Cut(text, ":")
		return text == name || text == namespace+"_"+name
	})
}

// LookIn returns the namespaces in which objects of the Kind can belong to the one of a namespace,
// sorted.
func (h Hold) LookIn(object map[string]any, namespace string) []string {
	all := []string{namespace}
	for _, p := range h.Namespaces {
		all = append(all, p.Texts(object)...)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return name == "" })
}

// Holding are the items of the object that hold it.
func (h Hold) Holding(object map[string]any) []map[string]any {
	if h.Items.IsZero() {
		return nil
	}
	var all []map[string]any
	for _, item := range h.Items.Objects(object) {
		if _, met := h.Meets(item); met {
			all = append(all, item)
		}
	}
	return all
}

// HoldingNames are the names of the items that hold the object, where they name objects.
func (h Hold) HoldingNames(object map[string]any) []string {
	var names []string
	for _, item := range h.Holding(object) {
		text := func(key string) string {
			s, _ := item[key].(string)
			return s
		}
		names = append(names, graph.Located(text("kind"), text("namespace"), text("name")))
	}
	return names
}

// Filled is a text of the hold, in which placeholders stand, about what holds the object.
func (h Hold) Filled(text, actor string, held []string) string {
	return strings.NewReplacer("{held}", phrase.And(held), "{actor}", actor).Replace(text)
}

// Said is where the text of Says is.
func (h Hold) Said() string {
	if h.Items.IsZero() {
		return h.Says.String()
	}
	return h.Items.String() + "." + h.Says.String()
}

// Texts are what Says leads to.
func (h Hold) Texts(object map[string]any) []string {
	if h.Says.IsZero() {
		return nil
	}
	in := h.Holding(object)
	if h.Items.IsZero() {
		in = []map[string]any{object}
	}
	var all []string
	for _, o := range in {
		if text, _ := h.Says.Text(o); text != "" {
			all = append(all, text)
		}
	}
	return all
}

func (h Hold) check() []error {
	errs := link.Problems{clause("waits", h.Waits), text("remedy", h.Remedy)}
	given := 0
	for _, is := range []bool{!h.Items.IsZero() || !h.Says.IsZero(), h.Annotation != "", h.Kind != "",
		len(h.UntilGone) > 0, !h.Node.IsZero() || h.Warning != ""} {
		if is {
			given++
		}
	}
	if given != 1 {
		errs = append(errs, errors.New(`give exactly one of "items" or "says", "annotation", "kind", "untilGone", and "node" or "warning"`))
	}
	if (len(h.NamedAt) > 0) != (h.Kind != "") || len(h.Namespaces) > 0 && h.Kind == "" {
		errs = append(errs, errors.New(`"namedAt" goes with "kind", and "namespaces" too, and only with that`))
	}
	if h.Shared && (h.Warning == "" || !h.Node.IsZero()) {
		errs = append(errs, errors.New(`"shared" goes with "warning", and not with "node"`))
	}
	if h.Approval != "" && (h.Items.IsZero() || !h.Says.IsZero() || len(h.UnlessDeleted) > 0) {
		errs = append(errs, errors.New(`"approval" goes with "items", and with neither "says" nor "unlessDeleted"`))
	}
	errs = append(errs, checkGroup(h.Group))
	for key, needs := range map[string][]Need{"unlessDeleted": h.UnlessDeleted, "untilGone": h.UntilGone} {
		for i, n := range needs {
			errs.Add(fmt.Sprintf(`%q, number %d: `, key, i+1), n.check()...)
		}
	}
	for key, conditions := range map[string][]link.Condition{"each": h.Each, "where": h.Where} {
		each := h.Annotation == "" && h.Warning == "" && len(h.UntilGone) == 0 && (h.Says.IsZero() || !h.Items.IsZero())
		if len(conditions) == 0 && (key == "where" || !each) {
			continue
		}
		errs.Add(fmt.Sprintf("%q: ", key), link.CheckAlternatives([][]link.Condition{conditions})...)
	}
	return errs
}
