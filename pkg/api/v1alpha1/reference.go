package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Reference is an entry of metadata.ownerReferences of an object.
type Reference struct {
	Object         ObjectRef             `json:"object"`
	OwnerReference metav1.OwnerReference `json:"ownerReference"`
	// Index is its place in the list, from 0.
	Index int `json:"index"`
}
