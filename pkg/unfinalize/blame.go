package unfinalize

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// blame says who put finalizers back after the write that removed them, as far as it can be known.
func (o *Outcome) blame(now *unstructured.Unstructured, back []FinalizerRef) []PutBack {
	var all []PutBack
	for _, h := range back {
		b := PutBack{FinalizerRef: h, Ignored: o.asked[h]}
		if !b.Ignored && h.Field == finalizer.InMetadata {
			last := cluster.LastWriter(now, cluster.FinalizerPath(h.Name))
			b.Manager, b.Time = last.Manager, last.At
		}
		all = append(all, b)
	}
	return all
}
