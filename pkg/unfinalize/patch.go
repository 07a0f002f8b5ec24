package unfinalize

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// removal removes finalizers from the metadata of an object, each by where it stands and if it stands there; the others keep their order (P-07). They go
// from the last to the first, so that each step finds what it means where it was.
func removal(o *unstructured.Unstructured, assessments []Assessment) []cluster.PatchStep {
	steps := cluster.Unchanged(string(o.GetUID()), o.GetResourceVersion())
	for i, name := range slices.Backward(o.GetFinalizers()) {
		if has(assessments, FinalizerRef{name, finalizer.InMetadata}) {
			path := fmt.Sprintf("/metadata/finalizers/%d", i)
			steps = append(steps, cluster.PatchStep{Op: "test", Path: path, Value: name}, cluster.PatchStep{Op: "remove", Path: path})
		}
	}
	return steps
}

// without are the spec.finalizers of a namespace but for some.
func without(o *unstructured.Unstructured, assessments []Assessment) []string {
	return slices.DeleteFunc(slices.Clone(specFinalizers(o)), func(name string) bool {
		return has(assessments, FinalizerRef{name, finalizer.InSpec})
	})
}

func has(assessments []Assessment, h FinalizerRef) bool {
	return slices.ContainsFunc(assessments, func(v Assessment) bool { return v.FinalizerRef == h })
}
