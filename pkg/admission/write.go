package admission

import (
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Write is an operation on one object, as admission sees it.
type Write struct {
	Operation admissionv1.OperationType
	Type      graph.Type
	// Object is the object as it is stored. Of an outline only name and namespace are known.
	Object  *unstructured.Unstructured
	Outline bool
	// subresources says that a write to any subresource of the object counts too.
	subresources bool
}

// Of is a write to an object of which only the name and the namespace are known.
func Of(operation admissionv1.OperationType, t graph.Type, namespace, name string) Write {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetNamespace(namespace)
	o.SetName(name)
	return Write{Operation: operation, Type: t, Object: o, Outline: true}
}

// String names the operation and the type, as in "UPDATE of widgets.example.com".
func (w Write) String() string {
	return fmt.Sprintf("%s of %s", w.Operation, schema.GroupResource{Group: w.Type.Group, Resource: w.Type.Resource})
}

// namespaces says whether the write is to a namespace, whose own labels a selector of namespaces
// selects.
func (w Write) namespaces() bool { return w.Type.Group == "" && w.Type.Resource == "namespaces" }
