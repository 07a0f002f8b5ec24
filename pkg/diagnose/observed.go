package diagnose

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// observed are clauses that were read at the object in which the cause lies.
func observed(says ...string) []v1alpha1.Observation {
	all := make([]v1alpha1.Observation, len(says))
	for i, s := range says {
		all[i].Says = s
	}
	return all
}

// observedAt are clauses that were read somewhere else: an object, with the field if there is one.
func observedAt(from string, says ...string) []v1alpha1.Observation {
	all := observed(says...)
	for i := range all {
		all[i].From = from
	}
	return all
}

// from says where something was read: an object, and a field of it if one is given.
func from(o *unstructured.Unstructured, field string) string {
	name := o.GetName()
	if ns := o.GetNamespace(); ns != "" {
		name = ns + "/" + name
	}
	return strings.TrimSpace(o.GetKind() + " " + name + " " + field)
}
