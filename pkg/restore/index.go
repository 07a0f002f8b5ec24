package restore

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
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
func IsController(r metav1.OwnerReference) bool { return graph.ReferenceOf(r).Controller }

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
		ref:    graph.RefOf(o),
		owners: o.GetOwnerReferences(),
	}
	it.facts = factsOf(it.kind(), o)
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

// maker says who makes an archived object again; empty if nobody does. Comes reports whether an
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

// isEvent reports whether an object only tells what has happened.
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
