package link

import (
	"fmt"
	"strings"
)

// Condition is what an object says of itself: exactly one of an annotation, a label and a field.
type Condition struct {
	Annotation string `json:"annotation,omitempty"`
	Label      string `json:"label,omitempty"`
	Field      Path   `json:"field,omitzero"`
	// Value is what it has to be, as text; empty if any will do.
	Value string `json:"value,omitempty"`
	// Empty says that it may also be missing; without a Value, that it has to be.
	Empty bool `json:"empty,omitempty"`
}

// met says whether an object meets the condition.
func (c Condition) met(object map[string]any) bool {
	value, found := c.path().text(object)
	switch {
	case !found || value == "":
		return c.Empty
	case c.Value == "":
		return !c.Empty
	}
	return value == c.Value
}

func (c Condition) path() Path {
	switch {
	case c.Annotation != "":
		return Path{[]string{"metadata", "annotations", c.Annotation}}
	case c.Label != "":
		return Path{[]string{"metadata", "labels", c.Label}}
	}
	return c.Field
}

// inMetadata says that an object's labels and annotations answer it.
func (c Condition) inMetadata() bool { return c.Field.IsZero() || c.Field.steps[0] == "metadata" }

// String says what an object has that meets the condition: "annotation helm.sh/resource-policy is keep".
func (c Condition) String() string {
	what := c.Field.String()
	switch {
	case c.Annotation != "":
		what = "annotation " + c.Annotation
	case c.Label != "":
		what = "label " + c.Label
	}
	switch {
	case c.Value != "" && c.Empty:
		return fmt.Sprintf("%s is %s or is not set", what, c.Value)
	case c.Value != "":
		return what + " is " + c.Value
	case c.Empty:
		return what + " is not set"
	}
	return what + " is set"
}

// allMet says whether an object meets all of some conditions.
func allMet(conditions []Condition, object map[string]any) bool {
	for _, c := range conditions {
		if !c.met(object) {
			return false
		}
	}
	return true
}

// describe says which conditions these are, as a clause.
func describe(conditions []Condition) string {
	clauses := make([]string, len(conditions))
	for i, c := range conditions {
		clauses[i] = c.String()
	}
	return strings.Join(clauses, " and ")
}
