package graph

import (
	"fmt"
	"strings"
)

// The named forms of an object. Text that objects supply is in them as it is; it has to be escaped
// where it is printed.

// Quoted names an object as kubectl's messages do: deployment.apps "web" in shop namespace.
func (r Ref) Quoted() string {
	if r.Namespace == "" {
		return fmt.Sprintf("%s %q", r.QualifiedKind(), r.Name)
	}
	return fmt.Sprintf("%s %q in %s namespace", r.QualifiedKind(), r.Name, r.Namespace)
}

// DeletedFrom says of an object that it is deleted, as kubectl delete does: deployment.apps "web"
// deleted from shop namespace.
func (r Ref) DeletedFrom() string {
	if r.Namespace == "" {
		return fmt.Sprintf("%s %q deleted", r.QualifiedKind(), r.Name)
	}
	return fmt.Sprintf("%s %q deleted from %s namespace", r.QualifiedKind(), r.Name, r.Namespace)
}

// KindName names an object as the tree does: Deployment/web.
func (r Ref) KindName() string { return r.Kind + "/" + r.Name }

// TypeName names an object as kubectl's -o name does: deployment.apps/web.
func (r Ref) TypeName() string { return r.QualifiedKind() + "/" + r.Name }

// Located names the object with its namespace, where a sentence may be about objects of several:
// Deployment shop/web.
func (r Ref) Located() string { return Located(r.Kind, r.Namespace, r.Name) }

// Located names an object that is no node of a graph as Ref.Located does. Without a namespace it is
// Namespace shop.
func Located(kind, namespace, name string) string {
	if namespace == "" {
		return kind + " " + name
	}
	return kind + " " + namespace + "/" + name
}

// QualifiedKind is the kind as kubectl writes it in messages: deployment.apps.
func (r Ref) QualifiedKind() string {
	kind := strings.ToLower(r.Kind)
	if r.Group() != "" {
		kind += "." + r.Group()
	}
	return kind
}

// QualifiedResource is the plural name of the type as a command takes it so that kubectl finds no
// other: deployments.apps.
func (r Ref) QualifiedResource() string {
	if r.Group() == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Group()
}

// Arguments name the object on a command line so that kubectl finds no other and takes no name for
// an option: deployments.apps/web -n shop. They are nil if no type of its kind is served.
func (r Ref) Arguments() []string {
	switch {
	case r.Resource == "":
		return nil
	case r.Namespace == "":
		return []string{r.QualifiedResource() + "/" + r.Name}
	}
	return []string{r.QualifiedResource() + "/" + r.Name, "-n", r.Namespace}
}
