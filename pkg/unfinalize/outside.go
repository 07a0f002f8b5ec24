package unfinalize

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Outside says what stays outside the cluster when the finalizers of a candidate are removed, as
// far as its object names it.
func (c *Candidate) Outside() []string { return leftBy(c.Object, c.By(ByPatch)) }

// leftBy says what an object stands for outside the cluster if the work of one of its finalizers is
// done nowhere.
func leftBy(o *unstructured.Unstructured, patched []Assessment) []string {
	skips := func(v Assessment) bool {
		return v.Note == "" && !(v.Actor.IsKnown && v.Actor.Known.Polarity == finalizer.BuiltinGC)
	}
	if !slices.ContainsFunc(patched, skips) {
		return nil
	}
	return status.Outside(o)
}
