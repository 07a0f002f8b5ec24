// Package status reads the conditions and the messages in the status of an object. It is pure, and
// it takes objects as they come: a custom resource may have anything where a condition is expected.
package status

import (
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Said is a text of a status, and the field in which it stands.
type Said struct{ Field, Text string }

// errorFields are fields of a status that are there only if something is wrong. Where one is no
// text, its message is meant.
var errorFields = []string{
	"error", "errorMessage", "errorReason", "lastError", "lastErrorMessage", "lastReconcileError", "lastSyncError",
	"lastErrors", "errors",
	"failureReason", "failureMessage", "deletionError", "syncError", "operationError",
}

// stated are the fields of a status that are read as what they are called.
var stated = []string{"phase", "state", "reason", "message"}

// isFailure says whether a text is a sentence that speaks of a failure, and no JSON.
func isFailure(text string) bool {
	return strings.Contains(text, " ") && !strings.ContainsAny(text[:1], "{[") && SaysFailure(text)
}

// Texts returns what a status says of a failure besides its conditions: the texts of an error, a
// phase that names a failure, its reason and message unless a phase says that all is well, and other
// sentences that speak of one.
func Texts(o *unstructured.Unstructured) []Said {
	s, _, _ := unstructured.NestedFieldNoCopy(o.Object, "status")
	m, _ := s.(map[string]any)
	if m == nil {
		return nil
	}
	var all []Said
	for _, key := range errorFields {
		all = append(all, texts("status."+key, m[key])...)
	}
	well := false
	for _, key := range []string{"phase", "state"} {
		switch phase := Text(m, key); {
		case namesFailure(phase), isFailure(phase):
			all = append(all, Said{"status." + key, phase})
		case namesHealth(phase):
			well = true
		}
	}
	for _, key := range []string{"reason", "message"} {
		if text := Text(m, key); text != "" && (!well || SaysFailure(text)) {
			all = append(all, Said{"status." + key, text})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		text := Text(m, key)
		if !slices.Contains(stated, key) && !slices.Contains(errorFields, key) && isFailure(text) {
			all = append(all, Said{"status." + key, text})
		}
	}
	return append(all, nested(m)...)
}

// nested are what Argo CD and Gardener say of an object one level deeper, where it is a failure.
func nested(status map[string]any) []Said {
	var all []Said
	for _, at := range []struct{ key, state, text string }{
		{"operationState", "phase", "message"}, {"health", "status", "message"}, {"lastOperation", "state", "description"},
	} {
		m, _ := status[at.key].(map[string]any)
		if text := Text(m, at.text); text != "" && namesFailure(Text(m, at.state)) {
			all = append(all, Said{"status." + at.key + "." + at.text, text})
		}
	}
	return all
}

// texts returns what a field says: a text, the message of an object, or those of a list.
func texts(field string, value any) []Said {
	switch v := value.(type) {
	case string:
		if v != "" {
			return []Said{{field, v}}
		}
	case map[string]any:
		for _, key := range []string{"message", "description", "reason"} {
			if text := Text(v, key); text != "" {
				return []Said{{field + "." + key, text}}
			}
		}
	case []any:
		var all []Said
		for _, item := range v {
			all = append(all, texts(field, item)...)
		}
		return all
	}
	return nil
}

// namesFailure says whether a phase is one of a failure: Failed, DeleteError, Degraded.
func namesFailure(phase string) bool {
	return phase != "" && (Condition{Type: phase}).polarity() == wellIfFalse
}

// namesHealth says whether a phase is one of an object that is well.
func namesHealth(phase string) bool {
	switch strings.ToLower(phase) {
	case "active", "bound", "running", "complete", "completed", "ok", "online", "normal":
		return true
	}
	return phase != "" && (Condition{Type: phase}).polarity() == wellIfTrue
}

// Fails returns the first text of a status besides its conditions that says of itself that it is a
// failure: a phase that names one, or a text that speaks of one. It is empty if there is none.
func Fails(o *unstructured.Unstructured) Said {
	for _, s := range Texts(o) {
		if namesFailure(s.Text) || SaysFailure(s.Text) {
			return s
		}
	}
	return Said{}
}

// Stage returns what a status calls the stage in which its object is, as Reconciling, whatever the
// field is called. It is empty if it says nothing of that, or that all is well.
func Stage(o *unstructured.Unstructured) Said {
	s, _, _ := unstructured.NestedFieldNoCopy(o.Object, "status")
	m, _ := s.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if text := Text(m, key); text != "" && !namesHealth(text) && slices.Contains([]string{"phase", "state", "status"}, strings.ToLower(key)) {
			return Said{"status." + key, text}
		}
	}
	return Said{}
}

// Condition is one that an object's status has. Custom resources may have anything there, so what
// is no text is empty.
type Condition struct {
	Type, Status, Reason, Message string
	// Since is when the status changed last, zero if that is not said.
	Since time.Time
	// generation is that of the object which was looked at, zero if that is not said.
	generation int64
	// Field is where it stands: status.conditions[Ready].
	Field string
}

// places are where objects keep conditions: Cluster API has those of its newer versions in a place
// of their own.
var places = [][]string{{"status", "conditions"}, {"status", "v1beta2", "conditions"}}

// Conditions returns those of an object's conditions that are any, be they a list or a map by type.
// Other fields of the status that are called so have conditions too: peeringConditions.
func Conditions(o *unstructured.Unstructured) []Condition {
	var all []Condition
	in := slices.Clone(places)
	s, _, _ := unstructured.NestedFieldNoCopy(o.Object, "status")
	m, _ := s.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if strings.HasSuffix(key, "Conditions") {
			in = append(in, []string{"status", key})
		}
	}
	for _, place := range in {
		field := strings.Join(place, ".")
		value, _, _ := unstructured.NestedFieldNoCopy(o.Object, place...)
		switch v := value.(type) {
		case []any:
			for _, item := range v {
				if m, ok := item.(map[string]any); ok && Text(m, "type") != "" {
					all = append(all, condition(field, Text(m, "type"), m))
				}
			}
		case map[string]any:
			for _, of := range slices.Sorted(maps.Keys(v)) {
				switch m := v[of].(type) {
				case map[string]any:
					all = append(all, condition(field, of, m))
				case string:
					all = append(all, condition(field, of, map[string]any{"status": m}))
				}
			}
		}
	}
	return all
}

func condition(field, of string, m map[string]any) Condition {
	c := Condition{Type: of, Status: Text(m, "status"), Reason: Text(m, "reason"), Message: Text(m, "message"),
		Field: field + "[" + of + "]"}
	if since, err := time.Parse(time.RFC3339, Text(m, "lastTransitionTime")); err == nil {
		c.Since = since
	}
	switch n := m["observedGeneration"].(type) {
	case int64:
		c.generation = n
	case float64:
		c.generation = int64(n)
	}
	return c
}

// sinceDeletion says whether a condition of an object that is being deleted was written since then:
// its status has changed, or it is about the object's last generation, which a deletion raises
// (k8s.io/apiserver/pkg/registry/rest/delete.go, BeforeDelete).
func (c Condition) sinceDeletion(o *unstructured.Unstructured) bool {
	at := o.GetDeletionTimestamp()
	return at != nil && (!c.Since.Before(at.Time) || c.generation > 1 && c.generation == o.GetGeneration())
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

// FieldOr reads the text of a field, which is written with dots, or returns another where there is
// none.
func FieldOr(o *unstructured.Unstructured, field, otherwise string) string {
	if field != "" {
		if text := Nested(o, strings.Split(field, ".")...); text != "" {
			return text
		}
	}
	return otherwise
}
