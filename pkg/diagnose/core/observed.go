package core

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// Observed are clauses that were read at the object in which the cause lies.
func Observed(says ...string) []v1alpha1.Observation {
	all := make([]v1alpha1.Observation, len(says))
	for i, s := range says {
		all[i].Says = s
	}
	return all
}

// ObservedAt are clauses that were read somewhere else: an object, with the field if there is one.
func ObservedAt(from string, says ...string) []v1alpha1.Observation {
	all := Observed(says...)
	for i := range all {
		all[i].From = from
	}
	return all
}

// From says where something was read: an object, and a field of it if one is given.
func From(o *unstructured.Unstructured, field string) string {
	name := o.GetName()
	if ns := o.GetNamespace(); ns != "" {
		name = ns + "/" + name
	}
	return strings.TrimSpace(o.GetKind() + " " + name + " " + field)
}
