package diagnose

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// statusCondition is one of status.conditions. Custom resources may have anything there, so what is no text is empty.
type statusCondition struct {
	Type, Status, Reason, Message string
	// Since is when the status changed last, zero if that is not said.
	Since time.Time
}

// conditions returns those of an object's status.conditions that are any.
func conditions(o *unstructured.Unstructured) []statusCondition {
	list, _, _ := unstructured.NestedFieldNoCopy(o.Object, "status", "conditions")
	items, _ := list.([]any)
	var all []statusCondition
	for _, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		c := statusCondition{Type: text(m, "type"), Status: text(m, "status"), Reason: text(m, "reason"), Message: text(m, "message")}
		if since, err := time.Parse(time.RFC3339, text(m, "lastTransitionTime")); err == nil {
			c.Since = since
		}
		if c.Type != "" {
			all = append(all, c)
		}
	}
	return all
}

// condition returns the condition of a type.
func condition(o *unstructured.Unstructured, of string) (statusCondition, bool) {
	for _, c := range conditions(o) {
		if c.Type == of {
			return c, true
		}
	}
	return statusCondition{}, false
}

// text reads what may not be there, or may be no text.
func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}
