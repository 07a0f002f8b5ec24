package status

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Change is the last trace that a program has left on an object.
type Change struct {
	At time.Time
	// Says is a clause, without the time, and Field where it was read.
	Says, Field string
}

// LastChange returns the latest of what an object says of its changes: the transitions of its
// conditions, and what was written, by managedFields. It is zero if the object says nothing of that.
// That something was only removed, as a finalizer, does not show.
func LastChange(o *unstructured.Unstructured) Change {
	return lastChange(o, func(metav1.ManagedFieldsEntry) bool { return true })
}

func lastChange(o *unstructured.Unstructured, counts func(metav1.ManagedFieldsEntry) bool) Change {
	var last Change
	for _, c := range Conditions(o) {
		if c.Since.After(last.At) {
			last = Change{c.Since, "its condition " + c.Type + " was changed", c.Field}
		}
	}
	for _, m := range o.GetManagedFields() {
		if m.Time != nil && m.Time.After(last.At) && counts(m) {
			last = Change{m.Time.Time, fmt.Sprintf("field manager %q wrote to it", m.Manager), "metadata.managedFields"}
		}
	}
	return last
}

// ChangedSinceDeletion returns the last change of an object that is being deleted, if a program has
// made it since the deletion: one that works on it lives, or lived then. A write of kubectl is a
// person's, and one that is of the metadata alone can be that of whoever removed another finalizer.
func ChangedSinceDeletion(o *unstructured.Unstructured) (Change, bool) {
	last, deleted := lastChange(o, func(m metav1.ManagedFieldsEntry) bool {
		return !strings.HasPrefix(m.Manager, "kubectl") && ofContent(m)
	}), o.GetDeletionTimestamp()
	return last, deleted != nil && !last.At.IsZero() && !last.At.Before(deleted.Time)
}

// ofContent reports whether a field manager has written more than metadata.
func ofContent(m metav1.ManagedFieldsEntry) bool {
	var fields map[string]json.RawMessage
	if m.FieldsV1 == nil || json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields) != nil {
		return false
	}
	delete(fields, "f:metadata")
	return len(fields) > 0
}
