package actor

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// writers returns who manages a finalizer of an object, according to managedFields. It is a hint
// and no proof.
func writers(o *unstructured.Unstructured, finalizer string) []cluster.Writer {
	return cluster.Writers(o, cluster.FinalizerPath(finalizer))
}
