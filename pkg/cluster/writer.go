package cluster

import (
	"encoding/json"
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Writer is a field manager and when it wrote last, as managedFields say. It is a hint and no
// proof: anybody can edit a field, and a client can call itself what it likes.
type Writer struct {
	Manager string
	At      time.Time
}

// FinalizerPath is where managedFields name a finalizer of an object's metadata.
func FinalizerPath(finalizer string) []string {
	return []string{"f:metadata", "f:finalizers", "v:" + quoted(finalizer)}
}

// OwnerPath is where managedFields name the reference to an owner.
func OwnerPath(uid string) []string {
	return []string{"f:metadata", "f:ownerReferences", `k:{"uid":` + quoted(uid) + `}`}
}

func quoted(s string) string {
	raw, _ := json.Marshal(s) // a string always can be
	return string(raw)
}

// Managed is one entry of an object's managedFields.
type Managed struct {
	Writer
	Operation, Subresource string
	// Fields are those that it manages, as fieldsV1 has them. They belong to the object.
	Fields map[string]any
}

// ManagedFields returns an object's managedFields without a copy: an object with some thousand
// finalizers is asked about each of them.
func ManagedFields(o *unstructured.Unstructured) iter.Seq[Managed] {
	return func(yield func(Managed) bool) {
		found, _, _ := unstructured.NestedFieldNoCopy(o.Object, "metadata", "managedFields")
		entries, _ := found.([]any)
		for _, e := range entries {
			entry, _ := e.(map[string]any)
			text := func(key string) string {
				value, _ := entry[key].(string)
				return value
			}
			m := Managed{Writer: Writer{Manager: text("manager")}, Operation: text("operation"),
				Subresource: text("subresource")}
			m.At, _ = time.Parse(time.RFC3339, text("time")) // the zero time if there is none
			m.Fields, _ = entry["fieldsV1"].(map[string]any)
			if !yield(m) {
				return
			}
		}
	}
}

// Writers returns who manages a field of an object, named by its path in managedFields.
func Writers(o *unstructured.Unstructured, path []string) []Writer {
	var all []Writer
	for m := range ManagedFields(o) {
		if hasField(m.Fields, path) {
			all = append(all, m.Writer)
		}
	}
	return all
}

func hasField(fields map[string]any, path []string) bool {
	for _, step := range path {
		next, has := fields[step]
		if !has {
			return false
		}
		fields, _ = next.(map[string]any)
	}
	return true
}

// LastWriter returns who has written a field last; the zero Writer if managedFields name nobody.
func LastWriter(o *unstructured.Unstructured, path []string) Writer {
	var last Writer
	for i, w := range Writers(o, path) {
		if i == 0 || w.At.After(last.At) {
			last = w
		}
	}
	return last
}
