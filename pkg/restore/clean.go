package restore

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// RestoredFrom is the annotation of an object that was created from an archive. Its value is the
// uid that the object had.
const RestoredFrom = "gc.kubectl.dev/restored-from"

// serverSet are the fields of metadata that the server sets or that describe a life that is over
// (API-038).
var serverSet = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
	"deletionGracePeriodSeconds", "managedFields", "selfLink", "ownerReferences"}

// collectors are the finalizers by which a deletion tells the garbage collector what to do. A new
// object that had one would begin its life with a policy for its end.
var collectors = []string{metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents}

// Creatable returns a copy of an archived object that a server can create: without what servers and
// controllers set, without ownerReferences, which the caller maps to new uids, and with the
// annotation RestoredFrom. Of the built-in kinds it leaves out what belongs to the old object
// alone; kinds.go says what.
func Creatable(archived *unstructured.Unstructured) *unstructured.Unstructured {
	o := archived.DeepCopy()
	metadata, _ := o.Object["metadata"].(map[string]any)
	for _, field := range serverSet {
		delete(metadata, field)
	}
	delete(o.Object, "status")
	if kept := slices.DeleteFunc(o.GetFinalizers(),
		func(f string) bool { return slices.Contains(collectors, f) }); len(kept) > 0 {
		o.SetFinalizers(kept)
	} else {
		delete(metadata, "finalizers")
	}
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[RestoredFrom] = string(archived.GetUID())
	o.SetAnnotations(annotations)
	if clean := cleaners[o.GroupVersionKind().GroupKind()]; clean != nil {
		clean(o.Object, string(archived.GetUID()))
	}
	return o
}
