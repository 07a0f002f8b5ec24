package selection

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Object is one object by name.
type Object struct {
	cluster.Resource
	Namespace, Name string
	// UID, if not empty, is the one that it must have.
	UID string
	// ResourceVersion, if not empty, is the one in which the server found that it matches a
	// selector.
	ResourceVersion string
	// Source is the file, URL or kustomization that names it; empty if none does.
	Source string
}

// Ref is the object as graphs name it.
func (o Object) Ref() graph.Ref {
	return o.Type.Ref(o.Namespace, o.Name, o.UID)
}

// Selection says which objects are meant. If nothing is set, all objects are.
type Selection struct {
	Objects []Object
	// Types are those of which all objects are meant, or those that match the selector.
	Types    []cluster.Resource
	Selector labels.Selector
}

// All says that no object in particular is meant.
func (s Selection) All() bool { return len(s.Objects) == 0 && len(s.Types) == 0 && s.Selector == nil }

// ClusterScoped says whether a cluster-scoped object is meant, whose dependents can be anywhere.
func (s Selection) ClusterScoped() bool {
	return slices.ContainsFunc(s.Objects, func(o Object) bool { return !o.Namespaced }) ||
		slices.ContainsFunc(s.Types, func(t cluster.Resource) bool { return !t.Namespaced })
}
