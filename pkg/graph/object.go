package graph

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// Type is one kind of object that the server serves, in the version that was, or would be, listed.
type Type struct {
	Group, Version, Resource, Kind string
	// Namespaced is the scope: false for a cluster-scoped type.
	Namespaced bool
}

// APIVersion returns the type's group and version as an object spells them.
func (t Type) APIVersion() string {
	if t.Group == "" {
		return t.Version
	}
	return t.Group + "/" + t.Version
}

// GroupResource identifies the type in whatever version it is.
func (t Type) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: t.Group, Resource: t.Resource}
}

// Place is the namespace of an object of the type that is in or beside another: none of a
// cluster-scoped one.
func (t Type) Place(namespace string) string {
	if !t.Namespaced {
		return ""
	}
	return namespace
}

// Ref names an object of the type; the uid is empty if it is not known.
func (t Type) Ref(namespace, name, uid string) Ref {
	return Ref{APIVersion: t.APIVersion(), Kind: t.Kind, Resource: t.Resource, Namespace: namespace, Name: name, UID: uid}
}

// RefOf identifies an object of the type.
func (t Type) RefOf(o metav1.Object) Ref {
	return t.Ref(o.GetNamespace(), o.GetName(), string(o.GetUID()))
}

// compare orders types by group, kind and resource; the version never decides, a type is served in
// one.
func (t Type) compare(u Type) int {
	return cmp.Or(cmp.Compare(t.Group, u.Group), cmp.Compare(t.Kind, u.Kind), cmp.Compare(t.Resource, u.Resource))
}

// Object is the part of an object's metadata that the graph keeps.
type Object struct {
	Namespace, Name, UID, ResourceVersion string
	Generation                            int64
	// Created and Deleted are seconds since the epoch, 0 for none. Deleted is the
	// deletionTimestamp.
	CreationTimestamp, DeletionTimestamp int64
	Finalizers                           []string
	Owners                               []OwnerReference
	// Selected says that the object matches the label selector the list was evaluated with.
	Selected bool
	// Annotations are those that the listing was asked for, as far as the object has them; nil for
	// none.
	Annotations map[string]string
}

// OwnerReference is one entry of metadata.ownerReferences.
type OwnerReference struct {
	APIVersion, Kind, Name, UID string
	Controller, Block           bool
}

// Meta returns the reference as the API machinery has it.
func (r OwnerReference) Meta() metav1.OwnerReference {
	m := metav1.OwnerReference{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: types.UID(r.UID)}
	if r.Controller {
		m.Controller = new(true)
	}
	if r.Block {
		m.BlockOwnerDeletion = new(true)
	}
	return m
}

// ReferenceOf returns what Meta was made of.
func ReferenceOf(m metav1.OwnerReference) OwnerReference {
	return OwnerReference{
		APIVersion: m.APIVersion, Kind: m.Kind, Name: m.Name, UID: string(m.UID),
		Controller: m.Controller != nil && *m.Controller, Block: m.BlockOwnerDeletion != nil && *m.BlockOwnerDeletion,
	}
}

// UIDs are those of references, each once.
func UIDs(refs []OwnerReference) []string {
	var all []string
	seen := map[string]bool{}
	for _, r := range refs {
		if !seen[r.UID] {
			seen[r.UID] = true
			all = append(all, r.UID)
		}
	}
	return all
}

// Ref identifies a node. For a virtual node it holds what the references to it say.
type Ref = v1alpha1.ObjectRef

// RefOf identifies an object by what it says itself, which does not tell its resource.
func RefOf(o *unstructured.Unstructured) Ref {
	return Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(),
		UID: string(o.GetUID())}
}

// Located names an object that is no node of a graph as Ref.Located does.
func Located(kind, namespace, name string) string {
	return Ref{Kind: kind, Namespace: namespace, Name: name}.Located()
}

func groupOf(apiVersion string) string { return Ref{APIVersion: apiVersion}.Group() }

// Annotations returns the annotations of a node that its listing was asked for; nil if it has none
// of them. The map must not be changed.
func (g *Graph) Annotations(id ID) map[string]string { return g.annotations[int32(id)] }

// annotate notes the annotations of a node in the place of those that it had.
func (b *Builder) annotate(id int32, annotations map[string]string) {
	if len(annotations) == 0 {
		delete(b.annotations, id)
		return
	}
	var key strings.Builder
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		key.WriteString(name + "\x00" + annotations[name] + "\x00")
	}
	set, known := b.annotationSets[key.String()]
	if !known {
		set = maps.Clone(annotations)
		b.annotationSets[key.String()] = set
	}
	b.annotations[id] = set
}

// PrinterColumns is what kubectl get prints of an object in the columns READY and STATUS; either
// may be empty.
type PrinterColumns struct {
	Ready, Status string
	// Failing is the condition of a custom resource that says what is wrong with it; nil if none
	// does.
	Failing *v1alpha1.Condition
}

// KindPattern names kinds as path.Match has patterns: "v1/Pod" of the core, "apps/Deployment",
// "apps/*", "*.azure.com/*", "*/ServiceExport", or "*" for all.
type KindPattern string

// Matches reports whether the pattern is about a kind. The group of the core is empty.
func (p KindPattern) Matches(group, kind string) bool {
	if p == "*" {
		return true
	}
	ok, err := path.Match(string(p), cmp.Or(group, "v1")+"/"+kind)
	return err == nil && ok
}
