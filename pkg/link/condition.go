package link

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Condition is what an object says of itself: exactly one of an annotation, a label and a field.
type Condition struct {
	Annotation string `json:"annotation,omitempty"`
	Label      string `json:"label,omitempty"`
	Field      Path   `json:"field,omitzero"`
	// Value is what it has to be, as text; empty if any will do. Of several values at a path with
	// [*], one has to be it.
	Value string `json:"value,omitempty"`
	// AnyCase says that upper and lower case of the Value do not count.
	AnyCase bool `json:"anyCase,omitempty"`
	// Has is an item of it, where it is a list with commas: "Delete=false" of
	// "Prune=false,Delete=false". With "*" at its end it is any that begins so.
	Has string `json:"has,omitempty"`
	// Empty says that it may also be missing; without a Value, that it has to be.
	Empty bool `json:"empty,omitempty"`
	// Not turns the condition round.
	Not bool `json:"not,omitempty"`
}

// met reports whether an object meets the condition.
func (c Condition) met(object map[string]any) bool { return c.holds(object) != c.Not }

// holds reports whether an object meets the condition, before it is turned round.
func (c Condition) holds(object map[string]any) bool {
	values := slices.DeleteFunc(c.path().all(object), c.unset)
	switch {
	case len(values) == 0:
		return c.Empty
	case c.Value == "" && c.Has == "":
		return !c.Empty
	}
	return slices.ContainsFunc(values, func(v any) bool {
		text, ok := scalar(v)
		return ok && (c.Has == "" && c.is(text) || c.Has != "" && hasItem(text, c.Has))
	})
}

// is reports whether a text is the Value.
func (c Condition) is(text string) bool {
	return text == c.Value || c.AnyCase && strings.EqualFold(text, c.Value)
}

// unset reports whether a value counts as none. A field that is empty does; a label or annotation
// is there by its key alone.
func (c Condition) unset(value any) bool {
	if c.Field.IsZero() {
		return false
	}
	switch v := value.(type) {
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func hasItem(list, item string) bool {
	prefix, open := strings.CutSuffix(item, "*")
	for text := range strings.SplitSeq(list, ",") {
		if text = strings.TrimSpace(text); text == item || open && strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

func (c Condition) path() Path {
	switch {
	case c.Annotation != "":
		return AnnotationPath(c.Annotation)
	case c.Label != "":
		return Path{[]string{"metadata", "labels", c.Label}}
	}
	return c.Field
}

// metadataFields are the fields of an object of which its metadata alone is read.
var metadataFields = []string{"metadata", "kind", "apiVersion"}

// inMetadata says that what an object is and its metadata answer it.
func (c Condition) inMetadata() bool {
	return c.Field.IsZero() || slices.Contains(metadataFields, c.Field.steps[0])
}

// String says what an object has that meets the condition: "annotation helm.sh/resource-policy is
// keep".
func (c Condition) String() string {
	what := c.Field.String()
	switch {
	case c.Annotation != "":
		what = "annotation " + c.Annotation
	case c.Label != "":
		what = "label " + c.Label
	}
	what, inList := strings.CutSuffix(what, allItems)
	item := c.Has
	if inList && !c.Empty {
		item = cmp.Or(c.Has, c.Value)
	}
	switch {
	case item != "" && c.Not:
		return what + " does not have " + item
	case item != "":
		return what + " has " + item
	case c.Value != "" && c.Empty:
		return fmt.Sprintf("%s is %s or is not set", what, c.Value)
	case c.Value != "" && c.Not:
		return what + " is not " + c.Value
	case c.Value != "":
		return what + " is " + c.Value
	case c.Empty != c.Not:
		return what + " is not set"
	}
	return what + " is set"
}

// AllMet reports whether an object meets all of some conditions.
func AllMet(conditions []Condition, object map[string]any) bool {
	return !slices.ContainsFunc(conditions, func(c Condition) bool { return !c.met(object) })
}

// AnyMet returns which of some alternatives an object meets, all conditions of it, in words; false
// if it meets none.
func AnyMet(alternatives [][]Condition, object map[string]any) (string, bool) {
	for _, all := range alternatives {
		if AllMet(all, object) {
			return Describe(all), true
		}
	}
	return "", false
}

// CheckAlternatives returns what is wrong with the conditions of alternatives.
func CheckAlternatives(alternatives [][]Condition) []error {
	var errs []error
	for i, all := range alternatives {
		if len(all) == 0 {
			errs = append(errs, fmt.Errorf("number %d, is empty: it is met by everything", i+1))
		}
		for _, err := range checkConditions(all) {
			errs = append(errs, fmt.Errorf("number %d: %w", i+1, err))
		}
	}
	return errs
}

// Describe says which conditions these are, as a clause.
func Describe(conditions []Condition) string {
	return strings.Join(phrase.Words(conditions, Condition.String), " and ")
}
