package explain

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Of says what is known of a finalizer on an object. Of one that is not known it has the name only.
func Of(known *finalizer.Registry, name string, of graph.Ref) v1alpha1.ExplainedFinalizer {
	k, isKnown := known.Lookup(name, of.Group(), of.Kind)
	if !isKnown {
		return v1alpha1.ExplainedFinalizer{Name: name}
	}
	return entry(name, k)
}
