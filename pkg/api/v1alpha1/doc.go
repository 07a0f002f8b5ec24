// Package v1alpha1 holds the versioned objects that kubectl gc prints with -o json, yaml, jsonpath
// and go-template.
//
// The keys are a contract: they are added to, never renamed or given another meaning within a
// version. The package only describes output; it decides nothing and talks to nobody.
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the apiVersion of every object in this package.
var GroupVersion = schema.GroupVersion{Group: "gc.kubectl.dev", Version: "v1alpha1"}

// TypeMeta returns the apiVersion and kind that an output object of the given kind carries.
func TypeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: GroupVersion.String(), Kind: kind}
}
