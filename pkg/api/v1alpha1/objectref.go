package v1alpha1

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ObjectRef identifies one object. For an owner that was referenced and never seen, the fields are
// those of the reference, and resource is empty where the kind could not be resolved.
type ObjectRef struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Resource is the plural name that the server uses in its paths.
	Resource string `json:"resource,omitempty"`
	// Namespace is empty for a cluster-scoped object.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// The named forms of an object. Text that objects supply is in them as it is; it has to be escaped
// where it is printed.

// Group returns the group part of the APIVersion, empty for the core group.
func (r ObjectRef) Group() string {
	group, _, has := strings.Cut(r.APIVersion, "/")
	if !has {
		return ""
	}
	return group
}

// GroupResource identifies the type of the object in whatever version it is.
func (r ObjectRef) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group(), Resource: r.Resource}
}

// Quoted names an object as kubectl's messages do: deployment.apps "web" in shop namespace.
func (r ObjectRef) Quoted() string {
	if r.Namespace == "" {
		return fmt.Sprintf("%s %q", r.QualifiedKind(), r.Name)
	}
	return fmt.Sprintf("%s %q in %s namespace", r.QualifiedKind(), r.Name, r.Namespace)
}

// DeletedFrom says of an object that it is deleted, as kubectl delete does: deployment.apps "web"
// deleted from shop namespace.
func (r ObjectRef) DeletedFrom() string {
	if r.Namespace == "" {
		return fmt.Sprintf("%s %q deleted", r.QualifiedKind(), r.Name)
	}
	return fmt.Sprintf("%s %q deleted from %s namespace", r.QualifiedKind(), r.Name, r.Namespace)
}

// KindName names an object as the tree does: Deployment/web.
func (r ObjectRef) KindName() string { return r.Kind + "/" + r.Name }

// TypeName names an object as kubectl's -o name does: deployment.apps/web.
func (r ObjectRef) TypeName() string { return r.QualifiedKind() + "/" + r.Name }

// Located names the object with its namespace, where a sentence may be about objects of several:
// Deployment shop/web. Without a namespace it is Namespace shop.
func (r ObjectRef) Located() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// QualifiedKind is the kind as kubectl writes it in messages: deployment.apps.
func (r ObjectRef) QualifiedKind() string {
	kind := strings.ToLower(r.Kind)
	if r.Group() != "" {
		kind += "." + r.Group()
	}
	return kind
}

// QualifiedResource is the plural name of the type as a command takes it so that kubectl finds no
// other: deployments.apps.
func (r ObjectRef) QualifiedResource() string {
	if r.Group() == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Group()
}

// Arguments name the object on a command line so that kubectl finds no other and takes no name for
// an option: deployments.apps/web -n shop. They are nil if no type of its kind is served.
func (r ObjectRef) Arguments() []string {
	switch {
	case r.Resource == "":
		return nil
	case r.Namespace == "":
		return []string{r.QualifiedResource() + "/" + r.Name}
	}
	return []string{r.QualifiedResource() + "/" + r.Name, "-n", r.Namespace}
}

// Reference is an entry of metadata.ownerReferences of an object.
type Reference struct {
	Object         ObjectRef             `json:"object"`
	OwnerReference metav1.OwnerReference `json:"ownerReference"`
	// Index is its place in the list, from 0.
	Index int `json:"index"`
}
