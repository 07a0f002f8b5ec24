package status

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
// Other fields of the status that are called so have conditions too: peeringConditions, but not those
// of what was, as previousConditions.
func Conditions(o *unstructured.Unstructured) []Condition {
	var all []Condition
	in := slices.Clone(places)
	s, _, _ := unstructured.NestedFieldNoCopy(o.Object, "status")
	m, _ := s.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if strings.HasSuffix(key, "Conditions") && !past.MatchString(key) {
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
	switch m["status"] { // of a custom resource it can be anything
	case true:
		c.Status = "True"
	case false:
		c.Status = "False"
	}
	// Those of Rancher have no lastTransitionTime.
	at := cmp.Or(Text(m, "lastTransitionTime"), Text(m, "lastUpdateTime"))
	if since, err := time.Parse(time.RFC3339, at); err == nil {
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

// sinceDeletion reports whether a condition of an object that is being deleted was written since
// then: its status has changed, or it is about the object's last generation, which a deletion
// raises (k8s.io/apiserver/pkg/registry/rest/delete.go, BeforeDelete). One that is about a generation
// before that is of who had not seen the deletion, whenever it was written.
func (c Condition) sinceDeletion(o *unstructured.Unstructured) bool {
	at, last := o.GetDeletionTimestamp(), o.GetGeneration()
	return at != nil && (c.generation == 0 || c.generation >= last) && (!c.Since.Before(at.Time) || c.generation > 1)
}

// outdated reports whether a condition is about an object as it was before the last change of its spec
// that came before its deletion.
func (c Condition) outdated(o *unstructured.Unstructured) bool {
	return c.generation > 0 && c.generation < o.GetGeneration()-1
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

// Ended reports whether a pod has ended: it can be deleted, and nothing that runs is.
func Ended(pod *unstructured.Unstructured) bool {
	phase := Nested(pod, "status", "phase")
	return phase == "Succeeded" || phase == "Failed"
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
