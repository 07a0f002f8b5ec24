package cluster

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// IsImmortal says whether an object is a namespace that every API server refuses to delete, whoever
// asks (k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle).
func IsImmortal(ref graph.Ref) bool {
	return ref.Group() == Namespaces.Group && ref.Resource == Namespaces.Resource &&
		slices.Contains([]string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}, ref.Name)
}
