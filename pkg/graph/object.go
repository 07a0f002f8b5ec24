package graph

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

// less orders types by group, kind and resource; the version never decides, a type is served in
// one.
func (t Type) less(u Type) bool {
	if t.Group != u.Group {
		return t.Group < u.Group
	}
	if t.Kind != u.Kind {
		return t.Kind < u.Kind
	}
	return t.Resource < u.Resource
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

// Ref identifies a node. For a virtual node it holds what the references to it say.
type Ref struct {
	// APIVersion is the version the object was listed in or, for a virtual node, the one its
	// dependents name.
	APIVersion, Kind string
	// Resource is empty when no served type has that group and kind.
	Resource string
	// Namespace is empty for a cluster-scoped object.
	Namespace, Name, UID string
}

// Group returns the group part of the APIVersion, empty for the core group.
func (r Ref) Group() string { return groupOf(r.APIVersion) }

func groupOf(apiVersion string) string {
	for i := range len(apiVersion) {
		if apiVersion[i] == '/' {
			return apiVersion[:i]
		}
	}
	return ""
}
