package diagnose

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// LastWriter returns the field manager that has written a finalizer of an object's metadata last, and when; empty if managedFields name none. It is
// a hint and no proof.
func LastWriter(o *unstructured.Unstructured, finalizer string) (manager string, at time.Time) {
	for i, w := range writers(o, finalizer) {
		if i == 0 || w.At.After(at) {
			manager, at = w.Manager, w.At
		}
	}
	return manager, at
}
