package actor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
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
	// Custom says that it is a field which most controllers understand so, and that nothing is
	// known of this one.
	Custom bool
}

const clusterAPI = "cluster.x-k8s.io"

var (
	clusters = schema.GroupResource{Group: clusterAPI, Resource: "clusters"}
	// What many controllers understand.
	crossplanePaused = finalizer.Pause{Annotation: "crossplane.io/paused", Value: "true"}
	clusterPaused    = finalizer.Pause{Annotation: clusterAPI + "/paused"} // Cluster API takes any value
	specPaused       = finalizer.Pause{Field: "spec.paused", Value: "true"}
	specSuspended    = finalizer.Pause{Field: "spec.suspend", Value: "true"}
	// What some do, and some only while the object is not being deleted.
	maybePaused = []finalizer.Pause{{Field: "spec.pause", Value: "true"},
		{Field: "spec.managementState", Value: "Unmanaged"}}
	// pausedKeys are how annotations of other groups that say so are called, after the slash, and
	// workedOnKeys those that say so if they are off.
	pausedKeys = []string{"pause", "paused", "reconcile-paused", "reconciliation-paused", "suspend", "suspended",
		"skip-reconcile", "skip-reconciliation", "disable-reconcile", "reconcile-disabled"}
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
	all = add(all, Pause{Object: o}, crossplanePaused)
	all = add(all, Pause{Object: o, Moved: ofCluster}, clusterPaused)
	// A pack that names places names all. Built-in controllers delete what is suspended, and those
	// of Flux that apply something remove their finalizer first (finalize in kustomize-controller,
	// reconcileDelete in helm-controller), and leave what they have applied: to resume such an object
	// would delete it. That of KEDA as well looks at the deletion before the pause.
	custom := !cluster.BuiltIn(group) &&
		!slices.ContainsFunc([]string{"kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io", "keda.sh"},
			func(deleting string) bool { return strings.HasSuffix("."+group, "."+deleting) })
	if ofCluster || custom && len(a.Known.PausedBy) == 0 {
		all = add(all, Pause{Object: o, Moved: ofCluster, Custom: !ofCluster}, specPaused, specSuspended)
		all = add(all, Pause{Object: o, Custom: true}, maybePaused...)
		for _, key := range slices.Sorted(maps.Keys(o.GetAnnotations())) {
			of, name, _ := strings.Cut(key, "/")
			domain, _, _ := strings.Cut(a.Finalizer, "/")
			switch own := related(of, group) || related(of, domain); {
			case own && slices.Contains(pausedKeys, name):
				all = add(all, Pause{Object: o, Custom: true}, finalizer.Pause{Annotation: key, Value: "true"})
			case own && slices.Contains(workedOnKeys, name):
				all = add(all, Pause{Object: o, Custom: true}, finalizer.Pause{Annotation: key, Value: "false"},
					finalizer.Pause{Annotation: key, Value: "disabled"})
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

// Guessed says that it is an annotation or a field that may mean anything, or a field that the actor
// has heeded in some versions only: source-controller of Flux deletes what is suspended since 0.31.
func (p Pause) Guessed() bool {
	maybe := slices.ContainsFunc(maybePaused, func(m finalizer.Pause) bool { return m.Field == p.Field })
	return p.Custom && (p.Annotation != "" || maybe ||
		strings.HasSuffix(p.Object.GroupVersionKind().Group, ".toolkit.fluxcd.io"))
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
		ignored = "most controllers ignore such an object"
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

// Untaken is why an actor leaves an object alone: what it says of who is to work on it, or a class
// that it names and that is another's, or does not exist.
type Untaken struct {
	// Missing names the object that does not exist, nil if it is not that.
	Missing *Needed
	// By is the object that says it; nil if it is Missing.
	By *unstructured.Unstructured
	// Wants is what it would have to say.
	Wants string
	// Until and Remedy are those of the pack.
	Until, Remedy string
	Evidence      v1alpha1.Observation
}

// Guessed says that only some versions of the actor leave the object alone.
func (u Untaken) Guessed() bool { return u.Until != "" && u.Missing == nil }

// addUntaken finds out why the actor of a finalizer leaves an object alone, by its pack, and says
// what that depends on and cannot be read.
func (f *Finder) addUntaken(ctx context.Context, o *unstructured.Unstructured, a *Actor) {
	if field, by, another := managedByAnother(o, a.Finalizer); another {
		a.Untaken = append(a.Untaken, Untaken{By: o, Wants: field + " names one of the group of the object, or is not set",
			Evidence: v1alpha1.Observation{From: cluster.Place(o, field),
				Says: fmt.Sprintf("its %s is %q: the controllers of its group leave it to that one", field, by)}})
	}
	if !a.IsKnown {
		return
	}
	for _, t := range a.Known.Takes {
		u, left, err := f.leftBy(ctx, o, *a, t)
		if left && !slices.ContainsFunc(a.Untaken, func(v Untaken) bool { return v.Evidence == u.Evidence }) {
			a.Untaken = append(a.Untaken, u)
		}
		if err != nil {
			a.note("whether it takes the object is not known: " + err.Error())
		}
	}
}

// managedByAnother reports whether a custom resource is left to a controller of another group than
// its own, and in which field: that is how Jobs say it, and what is like them
// (https://github.com/kubernetes-sigs/kueue/pull/1705,
// https://github.com/ray-project/kuberay/pull/4807). It is said to the controllers of that group,
// and not to who has put a finalizer of another domain there.
func managedByAnother(o *unstructured.Unstructured, finalizer string) (field, by string, another bool) {
	group := o.GroupVersionKind().Group
	if of, _, _ := strings.Cut(finalizer, "/"); cluster.BuiltIn(group) || strings.Contains(of, ".") && !ofOneGroup(of, group) {
		return "", "", false
	}
	for _, field := range []string{"spec.managedBy", "spec.runPolicy.managedBy"} {
		by := status.Nested(o, strings.Split(field, ".")...)
		if domain, _, names := strings.Cut(by, "/"); names && strings.Contains(domain, ".") {
			return field, by, !ofOneGroup(domain, group)
		}
	}
	return "", "", false
}

// ofOneGroup reports whether a domain has the first word of an API group, or that has the domain's.
func ofOneGroup(domain, group string) bool {
	a, b := strings.Split(domain, "."), strings.Split(group, ".")
	return slices.Contains(b, a[0]) || slices.Contains(a, b[0])
}

func (f *Finder) leftBy(ctx context.Context, o *unstructured.Unstructured, a Actor, t finalizer.Take) (u Untaken,
	left bool, err error) {
	by := o
	if t.Of != nil {
		needed, names := f.named(o, o.Object, *t.Of, filler(o, a.Known, a.Finalizer))
		if !names || needed.Type.Namespaced && needed.Namespace == "" {
			return u, false, nil
		}
		by, err = f.reader.GetObject(ctx, needed.Type.GroupResource(), needed.Namespace, needed.Name)
		switch {
		case err != nil:
			return u, false, fmt.Errorf("%s %s cannot be read: %s", needed.Type.Kind, needed.Name, message(err))
		case by == nil && t.IfAbsent:
			return u, false, nil
		case by == nil:
			wants, _ := t.Met(o.Object)
			says := fmt.Sprintf("%s %s does not exist", needed.Type.Kind, needed.Name)
			if needed.Field != "" {
				says = fmt.Sprintf("it names %s %s, which does not exist", needed.Type.Kind, needed.Name)
			}
			return Untaken{Missing: &needed, Wants: wants, Until: t.Until, Remedy: t.Remedy,
				Evidence: v1alpha1.Observation{Says: says, From: cluster.Place(o, needed.Field)}}, true, nil
		}
	}
	wants, met := t.Met(by.Object)
	if met {
		return u, false, nil
	}
	u = Untaken{By: by, Wants: wants, Until: t.Until, Remedy: t.Remedy,
		Evidence: v1alpha1.Observation{From: cluster.Place(by, "")}}
	u.Evidence.Says = fmt.Sprintf("of %s it does not hold that %s", cluster.Located(by), wants)
	if c := t.Where[0]; len(t.Where) == 1 && !c.Field.IsZero() {
		says := "not set"
		if is, _ := c.Field.Text(by.Object); is != "" {
			says = strconv.Quote(is)
		}
		u.Evidence = v1alpha1.Observation{Says: fmt.Sprintf("%s of %s is %s", c.Field, cluster.Located(by), says),
			From: cluster.Place(by, c.Field.String())}
	}
	return u, true, nil
}
