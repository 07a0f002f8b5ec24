package dump

import (
	_ "embed"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Type is a type of which a dump has objects, or of which objects in it speak, or that Kubernetes
// itself serves.
type Type struct {
	metav1.APIResource
	// Versions are those in which it is served: Version, in which the dump has its objects, and
	// others.
	Versions []string
	// Objects are those that the dump has, by namespace and name. Those of a snapshot are read when In
	// or Find ask for them.
	Objects []*Object

	// everywhere and namespaces say where the dump has all objects of the type, and known that it
	// does in all namespaces that it knows of. That there can be others is a gap of the Namespaces.
	everywhere, known bool
	namespaces        map[string]bool
	// unlisted is why not all objects were listed, if the dump says so.
	unlisted string
	saved    *saved // nil for what is no snapshot
}

// Object is one object of a dump.
type Object struct {
	Namespace, Name, UID, ResourceVersion string
	// JSON is the whole object, nil if the dump has no more than its metadata.
	JSON []byte
	// Metadata is a PartialObjectMetadata in protobuf, of an object without JSON.
	Metadata []byte
}

// Covers returns whether the dump has all objects of the type in a namespace, so that what it does
// not have was not there. An empty namespace means everywhere.
func (t *Type) Covers(namespace string) bool {
	if t.saved != nil && t.saved.broken.Load() != nil {
		return false
	}
	return t.everywhere || t.namespaces[namespace] || namespace == "" && t.known
}

// isListed returns whether all objects of the type are known, in some namespace or everywhere.
func (t *Type) isListed() bool { return t.everywhere || len(t.namespaces) > 0 }

// serves adds a version to those in which a type is served.
func (t *Type) serves(version string) {
	if !slices.Contains(t.Versions, version) {
		t.Versions = append(t.Versions, version)
	}
}

//go:embed types.txt
var builtIn string

// verbs are those of the types that the garbage collector watches, as discovery shows them: with
// others an object of a dump could not be asked for its dependents.
var verbs = metav1.Verbs{"delete", "get", "list", "patch", "watch"}

// reviews are the groups of the types that are questions, and are not stored.
var reviews = []string{"authentication.k8s.io", "authorization.k8s.io"}

// builtInTypes are the types that Kubernetes itself serves. Those of them that a dump does not know
// of are not known to be absent.
func builtInTypes() []*Type {
	list := func(field string) []string {
		if field == "-" {
			return nil
		}
		return strings.Split(field, ",")
	}
	var all []*Type
	for line := range strings.Lines(builtIn) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		versions := strings.Split(f[1], ",")
		t := &Type{Versions: versions, APIResource: metav1.APIResource{
			Group: strings.TrimSuffix(f[0], "-"), Version: versions[0], Name: f[2], Kind: f[3],
			SingularName: strings.ToLower(f[3]), Namespaced: f[4] == "Namespaced", ShortNames: list(f[5]),
			Categories: list(f[6]), Verbs: verbs,
		}}
		if slices.Contains(reviews, t.Group) {
			t.Verbs = metav1.Verbs{"create"}
		}
		all = append(all, t)
	}
	return all
}
