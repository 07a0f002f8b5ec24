package restore

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// index is what is kept of an archive in memory: little of each object.
type index struct {
	file  string
	head  *v1alpha1.Plan
	items []*item // in the order of the archive, in which owners stand before their dependents
	byUID map[string]*item
	// places has the objects by kind, namespace and name; of several incarnations the last.
	places map[place]*item

	owned       map[string][]*item // by the uid of the owner; made when it is asked for
	definitions map[schema.GroupVersionKind]*item
}

// place is where an object is, whatever its uid.
type place struct {
	schema.GroupKind
	namespace, name string
}

// item is what is kept of an archived object.
type item struct {
	// ref is as archived: its uid is that of the object that was.
	ref    graph.Ref
	number int // its place in the archive
	owners []metav1.OwnerReference
	facts  facts
	// sum is that of its document.
	sum [sha256.Size]byte
}

func (it *item) kind() schema.GroupKind {
	return schema.FromAPIVersionAndKind(it.ref.APIVersion, it.ref.Kind).GroupKind()
}

func (it *item) place() place { return place{it.kind(), it.ref.Namespace, it.ref.Name} }

// controller is the owner that manages the object; nil for none.
func (it *item) controller() *metav1.OwnerReference {
	if i := slices.IndexFunc(it.owners, IsController); i >= 0 {
		return &it.owners[i]
	}
	return nil
}

// IsController returns whether an owner manages the object.
func IsController(r metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller }

// readIndex reads an archive to its end. The error names the file and the line; nothing is to be
// restored from an archive that is not whole.
func readIndex(file string) (*index, error) {
	r, err := archive.Open(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	x := &index{file: file, head: r.Head, byUID: map[string]*item{}, places: map[place]*item{}}
	for {
		o, line, err := r.Next()
		if errors.Is(err, io.EOF) {
			return x, nil
		}
		if err != nil {
			return nil, err
		}
		it, err := newItem(o)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", file, line, err)
		}
		it.number, it.sum = len(x.items), r.Sum()
		x.items = append(x.items, it)
		x.byUID[it.ref.UID] = it
		x.places[it.place()] = it
	}
}

// newItem takes from an object what is kept. Names that would lead a request elsewhere are refused.
func newItem(o *unstructured.Unstructured) (*item, error) {
	for _, field := range []struct{ name, value string }{{"metadata.name", o.GetName()},
		{"metadata.namespace", o.GetNamespace()}} {
		if wrong := content.IsPathSegmentName(field.value); len(wrong) > 0 {
			return nil, fmt.Errorf("%s %q %s", field.name, field.value, wrong[0])
		}
	}
	if _, err := schema.ParseGroupVersion(o.GetAPIVersion()); err != nil {
		return nil, fmt.Errorf("apiVersion: %w", err)
	}
	it := &item{
		ref: graph.Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(),
			UID: string(o.GetUID())},
		owners: o.GetOwnerReferences(),
	}
	it.facts = factsOf(it.kind(), o.Object)
	return it, nil
}

// made are the kinds of which a controller of Kubernetes makes the objects for an owner, by their
// kind, and makes them again.
var made = map[schema.GroupKind][]schema.GroupKind{
	{Group: "apps", Kind: "ReplicaSet"}: {{Group: "apps", Kind: "Deployment"}},
	kindPod: {
		{Group: "apps", Kind: "ReplicaSet"}, {Group: "apps", Kind: "StatefulSet"}, {Group: "apps", Kind: "DaemonSet"},
		{Kind: "ReplicationController"}, kindJob,
	},
	{Group: "apps", Kind: "ControllerRevision"}: {{Group: "apps", Kind: "StatefulSet"},
		{Group: "apps", Kind: "DaemonSet"}},
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}: {kindService, kindEndpoints},
	{Group: "resource.k8s.io", Kind: "ResourceClaim"}:  {kindPod},
}

// rootCA is the ConfigMap that a controller writes to each namespace.
const rootCA = "kube-root-ca.crt"

// maker says who makes an archived object again; empty if nobody does. Comes says whether an
// archived object is there or comes back.
func (x *index) maker(it *item, comes func(uid string) bool) string {
	if c := it.controller(); c != nil {
		by := schema.FromAPIVersionAndKind(c.APIVersion, c.Kind).GroupKind()
		for _, kind := range made[it.kind()] {
			if kind == by && comes(string(c.UID)) {
				return "the controller of " + c.Kind + " " + c.Name
			}
		}
	}
	switch {
	case it.kind() == kindConfigMap && it.ref.Name == rootCA:
		return "the controller of root certificates"
	case it.facts.mirror:
		return "the kubelet"
	case it.kind() == kindEndpoints:
		if s := x.places[place{kindService, it.ref.Namespace, it.ref.Name}]; s != nil && s.facts.selects && comes(s.ref.UID) {
			return "the controller of Service " + s.ref.Name
		}
	}
	return ""
}

// isEvent says whether an object only tells what has happened.
func isEvent(kind schema.GroupKind) bool {
	return kind.Kind == "Event" && (kind.Group == "" || kind.Group == "events.k8s.io")
}

// leftOut says why an object that is gone is not created again; an empty Reason if it is. Whether
// something is restored that it owns decides about what controllers make: a new one would have
// another uid.
func (x *index) leftOut(it *item, all, owns bool, comes func(uid string) bool) (Reason, string) {
	switch {
	case isEvent(it.kind()):
		return IsEvent, "an event tells what happened at the time"
	case it.kind() == kindVolume && !it.facts.retained:
		return StorageDeleted, "its reclaim policy is Delete: the storage behind it was deleted with it"
	case all:
		return "", ""
	}
	if by := x.maker(it, comes); by != "" && !owns {
		return ByController, by + " makes it again"
	}
	if it.facts.finished {
		return Finished, "it has run to its end, and would run again"
	}
	return "", ""
}

// facts are what the content of an archived object decides.
type facts struct {
	// definition are the types that a CustomResourceDefinition serves, one for each version.
	definition []graph.Type
	// finished says of a Job or a Pod that it has run to its end; created again, it would run
	// again.
	finished bool
	// mirror says of a pod that the kubelet made it from a file on its node.
	mirror bool
	// selects says of a Service that it has a selector: a controller writes its endpoints.
	selects bool
	// volume is the name of the PersistentVolume of a claim.
	volume string
	// retained says of a PersistentVolume that its reclaim policy is not Delete: what it stands for
	// is still there without it.
	retained bool
	// status says that the object has one.
	status bool
}

// The kinds that are decided about by more than their place.
var (
	kindNamespace  = schema.GroupKind{Kind: "Namespace"}
	kindService    = schema.GroupKind{Kind: "Service"}
	kindEndpoints  = schema.GroupKind{Kind: "Endpoints"}
	kindAccount    = schema.GroupKind{Kind: "ServiceAccount"}
	kindConfigMap  = schema.GroupKind{Kind: "ConfigMap"}
	kindPod        = schema.GroupKind{Kind: "Pod"}
	kindJob        = schema.GroupKind{Group: "batch", Kind: "Job"}
	kindClaim      = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	kindVolume     = schema.GroupKind{Kind: "PersistentVolume"}
	kindDefinition = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
)

// mirrorPod is the annotation of a pod that the kubelet made from a file.
const mirrorPod = "kubernetes.io/config.mirror"

func factsOf(kind schema.GroupKind, o map[string]any) facts {
	var f facts
	status, _, _ := unstructured.NestedMap(o, "status")
	f.status = len(status) > 0
	text := func(path ...string) string {
		s, _, _ := unstructured.NestedString(o, path...)
		return s
	}
	switch kind {
	case kindDefinition:
		f.definition = typesOf(o)
	case kindJob:
		f.finished = isTrue(status, "Complete") || isTrue(status, "Failed")
	case kindPod:
		phase := text("status", "phase")
		f.finished = phase == "Succeeded" || phase == "Failed"
		_, f.mirror, _ = unstructured.NestedString(o, "metadata", "annotations", mirrorPod)
	case kindService:
		selector, _, _ := unstructured.NestedMap(o, "spec", "selector")
		f.selects = len(selector) > 0
	case kindClaim:
		f.volume = text("spec", "volumeName")
	case kindVolume:
		f.retained = text("spec", "persistentVolumeReclaimPolicy") != "Delete"
	}
	return f
}

// IsFinished says whether a Job or a Pod has run to its end; created again, it runs again.
func IsFinished(o *unstructured.Unstructured) bool {
	return factsOf(o.GroupVersionKind().GroupKind(), o.Object).finished
}

// isTrue says whether a status has a condition that is True.
func isTrue(status map[string]any, condition string) bool {
	conditions, _, _ := unstructured.NestedSlice(status, "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		fields, _ := c.(map[string]any)
		return fields["type"] == condition && fields["status"] == "True"
	})
}

// typesOf are the types that a CustomResourceDefinition serves.
func typesOf(o map[string]any) []graph.Type {
	text := func(path ...string) string {
		s, _, _ := unstructured.NestedString(o, path...)
		return s
	}
	var types []graph.Type
	versions, _, _ := unstructured.NestedSlice(o, "spec", "versions")
	for _, v := range versions {
		fields, _ := v.(map[string]any)
		name, _ := fields["name"].(string)
		if served, _ := fields["served"].(bool); served && name != "" {
			types = append(types, graph.Type{
				Group: text("spec", "group"), Version: name, Resource: text("spec", "names", "plural"),
				Kind:       text("spec", "names", "kind"),
				Namespaced: text("spec", "scope") == "Namespaced",
			})
		}
	}
	return types
}

// Name names an archived object: a type as kubectl takes it, and a name.
type Name struct{ Type, Name string }

// ParseNames reads arguments as kubectl does: TYPE/NAME ..., or TYPE NAME ....
func ParseNames(args []string) ([]Name, error) {
	if len(args) == 0 {
		return nil, nil
	}
	if !strings.Contains(args[0], "/") {
		if len(args) == 1 {
			return nil, fmt.Errorf("%q needs a name: TYPE/NAME or TYPE NAME", args[0])
		}
		var names []Name
		for _, name := range args[1:] {
			if strings.Contains(name, "/") {
				return nil, fmt.Errorf("%q: TYPE/NAME and TYPE NAME cannot be used together", name)
			}
			names = append(names, Name{args[0], name})
		}
		return names, nil
	}
	var names []Name
	for _, arg := range args {
		kind, name, ok := strings.Cut(arg, "/")
		if !ok || kind == "" || name == "" || strings.Contains(name, "/") {
			return nil, fmt.Errorf("%q must be TYPE/NAME", arg)
		}
		names = append(names, Name{kind, name})
	}
	return names, nil
}

// find returns the objects that are meant: those that are named with all that they own or contain,
// or all of the archive. A namespace means what was in it.
func (x *index) find(names []Name, namespace string, cat *cluster.Catalog) ([]bool, error) {
	wanted := make([]bool, len(x.items))
	if len(names) == 0 {
		for i, it := range x.items {
			wanted[i] = namespace == "" || it.ref.Namespace == namespace || it.place() == place{kindNamespace, "", namespace}
		}
		return wanted, nil
	}
	for _, name := range names {
		var found []*item
		for _, it := range x.items {
			if it.ref.Name == name.Name && (namespace == "" || it.ref.Namespace == "" || it.ref.Namespace == namespace) &&
				x.isOf(it, name.Type, cat) {
				found = append(found, it)
			}
		}
		places := phrase.Words(found, func(it *item) string { return it.ref.Located() })
		switch places = slices.Compact(places); {
		case len(found) == 0:
			return nil, fmt.Errorf("%s has no %s/%s; kubectl gc archive --verify lists what it has", x.file, name.Type,
				name.Name)
		case len(places) > 1:
			return nil, fmt.Errorf("%s/%s is %s in %s; say which with -n, or name the group", name.Type, name.Name,
				phrase.And(places), x.file)
		}
		for _, it := range found {
			x.include(it, wanted)
		}
	}
	return wanted, nil
}

// include marks an object and all that it owns or contains.
func (x *index) include(it *item, wanted []bool) {
	if wanted[it.number] {
		return
	}
	wanted[it.number] = true
	for _, dependent := range x.dependents(it) {
		x.include(dependent, wanted)
	}
	for _, other := range x.items {
		switch it.kind() {
		case kindNamespace:
			if other.ref.Namespace == it.ref.Name {
				x.include(other, wanted)
			}
		case kindDefinition:
			if x.definitionOf(other) == it {
				x.include(other, wanted)
			}
		}
	}
}

// dependents are the objects that another owns: what is in another namespace, or in none, cannot be
// a dependent of an object in a namespace, whatever it says.
func (x *index) dependents(it *item) []*item {
	if x.owned == nil {
		x.owned = map[string][]*item{}
		for _, other := range x.items {
			for _, r := range other.owners {
				x.owned[string(r.UID)] = append(x.owned[string(r.UID)], other)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(x.owned[it.ref.UID]), func(other *item) bool {
		return it.ref.Namespace != "" && other.ref.Namespace != it.ref.Namespace
	})
}

// definitionOf is the archived CustomResourceDefinition of an object; nil if the archive has none.
func (x *index) definitionOf(it *item) *item {
	gvk := schema.FromAPIVersionAndKind(it.ref.APIVersion, it.ref.Kind)
	if x.definitions == nil {
		x.definitions = map[schema.GroupVersionKind]*item{}
		for _, other := range x.items {
			for _, t := range other.facts.definition {
				x.definitions[schema.GroupVersionKind{Group: t.Group, Version: t.Version, Kind: t.Kind}] = other
			}
		}
	}
	return x.definitions[gvk]
}

// isOf says whether an object is of the type that a word means: a kind, a resource or a short name,
// with or without a group.
func (x *index) isOf(it *item, word string, cat *cluster.Catalog) bool {
	kind := it.kind()
	names := []string{kind.Kind}
	if d := x.definitionOf(it); d != nil {
		for _, t := range d.facts.definition {
			names = append(names, t.Resource)
		}
	}
	if t, served := cat.Kind(it.ref.APIVersion, it.ref.Kind); served {
		if r, ok := cat.Lookup(schema.GroupResource{Group: t.Group, Resource: t.Resource}); ok {
			names = append(append(names, r.Resource, r.Singular), r.ShortNames...)
		}
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return name != "" && (strings.EqualFold(name, word) || strings.EqualFold(name+"."+kind.Group, word))
	})
}
