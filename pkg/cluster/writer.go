package cluster

import (
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Writer is a field manager and when it wrote last, as managedFields say. It is a hint and no proof: anybody can edit a field, and a client can call
// itself what it likes.
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

// Writers returns who manages a field of an object, named by its path in managedFields.
func Writers(o *unstructured.Unstructured, path []string) []Writer {
	var all []Writer
	for _, entry := range o.GetManagedFields() {
		if entry.FieldsV1 == nil || !hasField(entry.FieldsV1.GetRawBytes(), path) {
			continue
		}
		w := Writer{Manager: entry.Manager}
		if entry.Time != nil {
			w.At = entry.Time.Time
		}
		all = append(all, w)
	}
	return all
}

func hasField(raw json.RawMessage, path []string) bool {
	for _, step := range path {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			return false
		}
		next, has := fields[step]
		if !has {
			return false
		}
		raw = next
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
