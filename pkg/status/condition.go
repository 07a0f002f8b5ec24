// Package status reads what an object says of itself: its conditions and the texts of its status. It is pure, and it takes objects as they come:
// a custom resource may have anything where a condition is expected.
package status

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Condition is one of status.conditions. Custom resources may have anything there, so what is no text is empty.
type Condition struct {
	Type, Status, Reason, Message string
	// Since is when the status changed last, zero if that is not said.
	Since time.Time
}

// Conditions returns those of an object's status.conditions that are any.
func Conditions(o *unstructured.Unstructured) []Condition {
	list, _, _ := unstructured.NestedFieldNoCopy(o.Object, "status", "conditions")
	items, _ := list.([]any)
	var all []Condition
	for _, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		c := Condition{Type: Text(m, "type"), Status: Text(m, "status"), Reason: Text(m, "reason"), Message: Text(m, "message")}
		if since, err := time.Parse(time.RFC3339, Text(m, "lastTransitionTime")); err == nil {
			c.Since = since
		}
		if c.Type != "" {
			all = append(all, c)
		}
	}
	return all
}

// Find returns the condition of a type.
func Find(o *unstructured.Unstructured, of string) (Condition, bool) {
	for _, c := range Conditions(o) {
		if c.Type == of {
			return c, true
		}
	}
	return Condition{}, false
}

// Text reads what may not be there, or may be no text.
func Text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// Nested reads a text of an object, empty if there is none.
func Nested(o *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(o.Object, path...)
	return s
}
