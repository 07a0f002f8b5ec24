package actor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// Pause is where an object, or the one that it belongs to, says that controllers are to ignore it.
type Pause struct {
	finalizer.Pause
	// Object is what says so.
	Object *unstructured.Unstructured
	// Value is what it says there.
	Value string
	// Moved says that it is what clusterctl writes when it moves a Cluster to another management
	// cluster, which may own its machines now.
	Moved bool
	// Custom says that some controllers understand it so, and that nothing is known of this one: it is
	// a guess.
	Custom bool
}

const clusterAPI, crossplane = "cluster.x-k8s.io", "crossplane.io"

var (
	clusters = schema.GroupResource{Group: clusterAPI, Resource: "clusters"}
	// What many controllers understand.
	crossplanePaused = finalizer.Pause{Annotation: crossplane + "/paused", Value: "true"}
	clusterPaused    = finalizer.Pause{Annotation: clusterAPI + "/paused"} // Cluster API takes any value
	specPaused       = finalizer.Pause{Field: "spec.paused", Value: "true"}
	// What some do, and some only while the object is not being deleted: source-controller of Flux deletes
	// what is suspended since 0.31.
	maybePaused = []finalizer.Pause{{Field: "spec.suspend", Value: "true"}, {Field: "spec.pause", Value: "true"},
		{Field: "spec.managementState", Value: "Unmanaged"}}
	// pausedKeys are how annotations and labels of other groups that say so are called, after the
	// slash, and workedOnKeys those that say so if they are off.
	pausedKeys = []string{"pause", "paused", "reconcile-paused", "reconciliation-paused", "suspend", "suspended",
		"skip", "skip-reconcile", "skip-reconciliation", "disable-reconcile", "reconcile-disabled", "ignore", "ignored"}
	workedOnKeys = []string{"reconcile", "reconciliation", "managed"}
)

// Paused returns where an object says that the actor of a finalizer ignores it: what the packs know
// of it, and what many controllers have in common.
func (f *Finder) Paused(ctx context.Context, o *unstructured.Unstructured, a Actor) []Pause {
	var all []Pause
	group := o.GroupVersionKind().Group
	ofCluster := group == clusterAPI || strings.HasSuffix(group, "."+clusterAPI)
	if a.IsKnown {
		all = add(all, Pause{Object: o, Moved: ofCluster}, a.Known.PausedBy...)
	}
	domain, _, _ := strings.Cut(a.Finalizer, "/")
	ofDomain := func(of string) bool { return strings.HasSuffix("."+domain, "."+of) }
	all = add(all, Pause{Object: o, Custom: !ofDomain(crossplane)}, crossplanePaused)
	all = add(all, Pause{Object: o, Moved: ofCluster, Custom: !ofCluster && !ofDomain(clusterAPI)}, clusterPaused)
	// A pack that names places names all. Built-in controllers delete what is suspended, and those
	// of Flux that apply something remove their finalizer first (finalize in kustomize-controller,
	// reconcileDelete in helm-controller), and leave what they have applied: to resume such an object
	// would delete it. That of KEDA as well looks at the deletion before the pause.
	custom := !cluster.BuiltIn(group) &&
		!slices.ContainsFunc([]string{"kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io", "keda.sh"},
			func(deleting string) bool { return strings.HasSuffix("."+group, "."+deleting) })
	if ofCluster || custom && len(a.Known.PausedBy) == 0 {
		all = add(all, Pause{Object: o, Moved: ofCluster, Custom: !ofCluster || o.GetKind() != "Cluster"}, specPaused)
		all = add(all, Pause{Object: o, Custom: true}, maybePaused...)
		for _, place := range marks(o) {
			of, name, _ := strings.Cut(place.Annotation+place.Label, "/")
			values := []string(nil)
			switch own := related(of, group) || related(of, domain); {
			case own && slices.Contains(pausedKeys, name):
				values = []string{"true"}
			case own && slices.Contains(workedOnKeys, name):
				values = []string{"false", "disabled"}
			}
			for _, place.Value = range values {
				all = add(all, Pause{Object: o, Custom: true}, place)
			}
		}
	}
	if name := o.GetLabels()[clusterAPI+"/cluster-name"]; ofCluster && name != "" && o.GetKind() != "Cluster" {
		if owner, err := f.reader.GetObject(ctx, clusters, o.GetNamespace(), name); err == nil && owner != nil {
			all = add(all, Pause{Object: owner, Moved: true}, specPaused)
		}
	}
	return all
}

// marks are the annotations and then the labels of an object, as places.
func marks(o *unstructured.Unstructured) (all []finalizer.Pause) {
	for _, key := range slices.Sorted(maps.Keys(o.GetAnnotations())) {
		all = append(all, finalizer.Pause{Annotation: key})
	}
	for _, key := range slices.Sorted(maps.Keys(o.GetLabels())) {
		all = append(all, finalizer.Pause{Label: key})
	}
	return all
}

// related reports whether two groups are the same, or one is a part of the other.
func related(a, b string) bool {
	return strings.HasSuffix("."+a, "."+b) || strings.HasSuffix("."+b, "."+a)
}

// add adds those of the places where an object says that it is paused, each once.
func add(all []Pause, p Pause, places ...finalizer.Pause) []Pause {
	for _, place := range places {
		value, ok := says(p.Object, place)
		p.Pause, p.Value = place, value
		if ok && !slices.ContainsFunc(all,
			func(other Pause) bool { return other.Object == p.Object && other.where() == p.where() }) {
			all = append(all, p)
		}
	}
	return all
}

// says returns what an object says at a place, and whether it says there that it is paused.
func says(o *unstructured.Unstructured, place finalizer.Pause) (string, bool) {
	var value string
	var ok bool
	switch {
	case place.Annotation != "":
		value, ok = o.GetAnnotations()[place.Annotation]
	case place.Label != "":
		value, ok = o.GetLabels()[place.Label]
	default:
		var field any
		field, ok, _ = unstructured.NestedFieldNoCopy(o.Object, strings.Split(place.Field, ".")...)
		value = fmt.Sprint(field)
		ok = ok && field != nil && (place.Value != "" || value != "false" && value != "")
	}
	return value, ok && (place.Value == "" || value == place.Value)
}

// where names the place.
func (p Pause) where() string {
	switch {
	case p.Annotation != "":
		return "annotation " + p.Annotation
	case p.Label != "":
		return "label " + p.Label
	}
	return p.Field
}

// Says is what says of an object that it is paused, in a clause.
func (p Pause) Says(of *unstructured.Unstructured) string {
	if p.Object != of {
		return fmt.Sprintf("%s of %s, to which it belongs, is %q", p.where(), cluster.Located(p.Object), p.Value)
	}
	return fmt.Sprintf("its %s is %q", p.where(), p.Value)
}

// Observation is the evidence.
func (p Pause) Observation(of *unstructured.Unstructured) v1alpha1.Observation {
	ignored := "its controllers ignore it"
	if p.Custom {
		ignored = "it is not known whether its controllers honor that"
	}
	return v1alpha1.Observation{Says: p.Says(of) + ": " + ignored, From: cluster.Place(p.Object, p.path())}
}

func (p Pause) path() string {
	switch {
	case p.Annotation != "":
		return "metadata.annotations"
	case p.Label != "":
		return "metadata.labels"
	}
	return p.Field
}

// Resume returns the words of the command that ends it, after kubectl; OBJECT stands for the
// object.
func (p Pause) Resume() []string {
	switch {
	case p.Annotation != "":
		return []string{"annotate", "OBJECT", p.Annotation + "-"}
	case p.Label != "":
		return []string{"label", "OBJECT", p.Label + "-"}
	}
	keys := strings.Split(p.Field, ".")
	patch := "null"
	if p.Value == "true" {
		patch = "false"
	}
	for _, key := range slices.Backward(keys) {
		patch = fmt.Sprintf("{%q:%s}", key, patch)
	}
	return []string{"patch", "OBJECT", "--type=merge", "-p", patch}
}
