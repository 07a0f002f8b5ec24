package finalizers

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// TestOwners: an owner is one by its UID, and not by its name or by what it owns itself.
func TestOwners(t *testing.T) {
	t.Parallel()
	object := func(name, uid, owner string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetName(name)
		o.SetUID(types.UID(uid))
		if owner != "" {
			o.SetOwnerReferences([]metav1.OwnerReference{{Name: "demo", UID: types.UID(owner)}})
		}
		return o
	}
	owner, dependent := object("demo", "1", ""), object("demo-profile", "2", "1")
	if !owns(owner, dependent) {
		t.Error("the owner is none")
	}
	for name, by := range map[string]*unstructured.Unstructured{
		"its dependent": object("other", "3", "2"), "a namesake of the owner": object("demo", "4", ""), "itself": dependent,
	} {
		if owns(by, dependent) {
			t.Errorf("%s is its owner", name)
		}
	}
}
