package unfinalize

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// in is the object of a candidate on a server.
func (c *Candidate) in(client *cluster.Client) change.Object {
	return change.Object{Server: client, Type: c.Type, Ref: c.Ref}
}

// remove removes finalizers from the metadata of the object as it was assessed.
func (c *Candidate) remove(ctx context.Context, client *cluster.Client, assessments []Assessment,
	opts cluster.PatchOptions) (*graph.Object, error) {
	return c.in(client).Send(ctx, c.Object.GetResourceVersion(), removal(c.Object, assessments), opts)
}

// removal removes finalizers from the metadata of an object, each by where it stands and if it
// stands there; the others keep their order (P-07). They go from the last to the first, so that
// each step finds what it means where it was.
func removal(o *unstructured.Unstructured, assessments []Assessment) []cluster.PatchStep {
	var steps []cluster.PatchStep
	for i, name := range slices.Backward(o.GetFinalizers()) {
		if has(assessments, FinalizerRef{name, finalizer.InMetadata}) {
			path := fmt.Sprintf("/metadata/finalizers/%d", i)
			steps = append(steps, cluster.PatchStep{Op: "test", Path: path, Value: name},
				cluster.PatchStep{Op: "remove", Path: path})
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
