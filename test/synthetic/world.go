package synthetic

import (
	"fmt"
	"sort"
)

// The names of objects that commands are asked about.
const (
	// Owner is the ClusterRole that owns all ConfigMaps.
	Owner = "clusterrole-0000000"
	// Deployment is the first Deployment, in Namespace.
	Deployment = "deployment-0000000"
	Namespace  = "namespace-0000000"
)

// kind is a type with its objects, which are numbered in the order of a list: by namespace and
// name.
type kind struct {
	id                             uint64
	group, version, resource, kind string
	namespaced                     bool
	prefix                         string // of names
	count                          int
	// namespaceOf is the number of an object's namespace, which never falls; nil for a
	// cluster-scoped type.
	namespaceOf func(i int) int
	// ownersOf returns the references of an object: as many for each object of the type.
	ownersOf func(i int, owners []reference) []reference
	// nameOf returns the name of an object if it is no number.
	nameOf func(i int) string
	// managed is how many bytes of managedFields an object has.
	managed int
	// only are the verbs, if not all.
	only []string
}

// reference is an ownerReference to an object by number.
type reference struct {
	to         *kind
	i          int
	controller bool
}

func (k *kind) apiVersion() string {
	if k.group == "" {
		return k.version
	}
	return k.group + "/" + k.version
}

// within returns the numbers of the objects of a namespace, from first to before end.
func (k *kind) within(namespace int) (first, end int) {
	first = sort.Search(k.count, func(i int) bool { return k.namespaceOf(i) >= namespace })
	return first, first + sort.Search(k.count-first, func(i int) bool { return k.namespaceOf(first+i) > namespace })
}

// world is all types with their objects.
type world struct {
	shape      Shape
	kinds      []*kind
	namespaces *kind
	// custom are the types of custom resources, in the order of their definitions.
	custom []*kind
}

// Sizes of managedFields as objects have them that some controllers have written.
const (
	managedByMany = 1700
	managedByOne  = 400
)

func newWorld(s Shape) *world {
	w := &world{shape: s}
	many := s.Namespaces()
	w.namespaces = w.add(&kind{version: "v1", resource: "namespaces", kind: "Namespace", count: many,
		managed: managedByOne})
	roles := w.add(&kind{group: "rbac.authorization.k8s.io", version: "v1", resource: "clusterroles", kind: "ClusterRole",
		count: 2, managed: managedByOne})
	configMaps := w.add(&kind{
		version: "v1", resource: "configmaps", kind: "ConfigMap", namespaced: true, count: s.ConfigMaps(),
		managed:     managedByOne,
		namespaceOf: func(i int) int { return i / configMapsOfNamespace },
		ownersOf:    func(_ int, o []reference) []reference { return append(o, reference{to: roles}) },
	})
	w.add(&kind{
		version: "v1", resource: "secrets", kind: "Secret", namespaced: true, count: s.Secrets(), managed: managedByOne,
		namespaceOf: func(i int) int { return i / secretsOfNamespace },
		ownersOf: func(i int, o []reference) []reference {
			first, own := i/secretsOfNamespace*configMapsOfNamespace, i%secretsOfNamespace
			for n := range ownersOfSecret {
				o = append(o, reference{to: configMaps,
					i: first + (own+n*configMapsOfNamespace/ownersOfSecret)%configMapsOfNamespace})
			}
			return o
		},
	})
	absent := &kind{id: 1 << 32, version: "v1", resource: "persistentvolumes", kind: "PersistentVolume", prefix: "absent"}
	w.add(&kind{
		version: "v1", resource: "serviceaccounts", kind: "ServiceAccount", namespaced: true, count: s.Absent,
		managed:     managedByOne,
		namespaceOf: func(i int) int { return i * many / max(1, s.Absent) },
		ownersOf:    func(_ int, o []reference) []reference { return append(o, reference{to: absent}) },
	})
	w.workloads()
	for _, k := range emptyKinds() {
		w.add(k)
	}
	w.addCustom()
	return w
}

func (w *world) add(k *kind) *kind {
	k.id = uint64(len(w.kinds) + w.shape.Salt*4096)
	if k.prefix == "" {
		k.prefix = lower(k.kind)
	}
	w.kinds = append(w.kinds, k)
	return k
}

// workloads adds Deployments, their ReplicaSets and Pods.
func (w *world) workloads() {
	deployments := w.add(&kind{
		group: "apps", version: "v1", resource: "deployments", kind: "Deployment", namespaced: true,
		count: w.shape.Deployments(), managed: managedByMany,
		namespaceOf: func(i int) int { return i * 2 / 3 },
	})
	replicaSets := w.owned(deployments, &kind{group: "apps", version: "v1", resource: "replicasets", kind: "ReplicaSet"},
		replicaSetsOfOwner)
	w.owned(replicaSets, &kind{version: "v1", resource: "pods", kind: "Pod"}, podsOfReplicaSet)
}

// owned adds a type of which each object of another controls some.
func (w *world) owned(by, k *kind, each int) *kind {
	k.namespaced, k.count, k.managed = true, by.count*each, managedByMany
	k.namespaceOf = func(i int) int { return by.namespaceOf(i / each) }
	k.ownersOf = func(i int, o []reference) []reference { return append(o, reference{by, i / each, true}) }
	return w.add(k)
}

// addCustom adds custom resources, as many types as are missing, with their definitions. What
// objects are missing are theirs.
func (w *world) addCustom() {
	types, objects := w.shape.Types, w.shape.Objects
	for _, k := range w.kinds {
		objects -= k.count
		if k.only == nil {
			types--
		}
	}
	types-- // the definitions themselves
	types = max(types, 1)
	w.add(&kind{
		group: "apiextensions.k8s.io", version: "v1", resource: "customresourcedefinitions", kind: "CustomResourceDefinition",
		count: types, managed: managedByMany,
		nameOf: func(i int) string { return w.custom[i].resource + "." + w.custom[i].group },
	})
	each, many := max(1, (objects-types)/types), w.shape.Namespaces()
	for i := range types {
		name := fmt.Sprintf("Gadget%03d", i)
		w.custom = append(w.custom, w.add(&kind{
			group: fmt.Sprintf("group%02d.synthetic.example", i/10), version: "v1", resource: lower(name) + "s", kind: name,
			namespaced: true,
			count:      each, managed: managedByMany, namespaceOf: func(i int) int { return i * many / each },
		}))
	}
}
