package finalizers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

const (
	// mostNaming is how many types are looked through for what names an object, and longestNaming is
	// how many objects there may be of each: more would be read for a hint.
	mostNaming    = 12
	longestNaming = 500
	// shortestEnd is how long a key must be to mean a kind that only ends like it: cluster of
	// TemporalCluster.
	shortestEnd = 4
	ownersField = "metadata.ownerReferences"
)

// namer is an object that refers to another in a field, such as metadata.ownerReferences; or an
// owner of it, or one of its API group, that a finalizer is called after. One that is owned is not
// being deleted, and is a dependent that the collector deletes after the other. One that is told
// stands in what is said of the other, in field.
type namer struct {
	ref                   v1alpha1.ObjectRef
	field                 string
	deleting, owned, told bool
	owns, called          string
	// unwell is what it says of itself that is not well, as a clause.
	unwell string
}

// says is what was seen of it, as a clause.
func (n namer) says() string {
	who, state := n.ref.Located(), ""
	switch {
	case n.owns != "":
		return fmt.Sprintf("%s owns it, is not being deleted, and has the kind that finalizer %s is called after", who, n.owns)
	case n.deleting:
		state = ", and is being deleted"
	case n.owned:
		state = ", and is not being deleted: the collector deletes it only once its owner is gone"
	case n.told || n.called != "":
		state = ", and is not being deleted"
	}
	switch {
	case n.called != "":
		return fmt.Sprintf("finalizer %s is called after the kind of %s, which exists%s", n.called, who, state)
	case n.told:
		return fmt.Sprintf("%s names %s%s", n.field, who, strings.Replace(state, ", and is", ", which is", 1))
	}
	return fmt.Sprintf("%s refers to it in %s%s", who, n.field, state)
}

// goesFirst reports whether it is a dependent that is being deleted as well.
func (n namer) goesFirst() bool { return n.deleting && n.field == ownersField }

// keepers are the objects that one may be kept for, as a clause, with what to do about them.
func keepers(by []namer) string {
	switch {
	case by[0].owns != "":
		return "its owner " + by[0].ref.Located() + ": it goes with that, and not before"
	case by[0].owned:
		return "its dependent " + by[0].ref.Located() + ", which the collector deletes only after it: if so, delete the " +
			"dependent first"
	case by[0].told:
		return by[0].ref.Located() + ": see to that first"
	case by[0].called != "":
		return by[0].ref.Located() + ": the finalizer is called after its kind. If so, delete that first"
	}
	return "the objects that refer to it: check whether they are to be deleted first"
}

// namers are the custom resources of an object's own API group that name it by the conventions of
// the API, those of other groups that do so as the Gateway API has it, as a target or as parameters,
// and volumes with labels that do, of one that is called after volumes; of a built-in object those of
// the group that its finalizer is named after. Whoever removes the finalizer may keep it for them. So
// are an owner that a finalizer is called after, objects of the kind after which the finalizer is,
// which come first, its dependents that are being deleted, and those of its own domain that the
// collector deletes only once the object is gone.
func (e *Examiner) namers(ctx context.Context, o *unstructured.Unstructured, finalizer string) (all []namer) {
	group := o.GroupVersionKind().Group
	if o.GetDeletionTimestamp() == nil || e.Many {
		return nil
	}
	all = e.ofTheKind(o, finalizer)
	id, listed := e.Graph.Lookup(string(o.GetUID()))
	if listed {
		all = append(all, e.keepingOwners(id, o)...)
	}
	volumes := strings.Contains(strings.ToLower(finalizer+o.GetKind()), "volume")
	apart := func(t graph.Type) int {
		if volumes && t.GroupResource() == cluster.PersistentVolumes {
			return 1 // https://github.com/openshift/local-storage-operator/pull/150
		}
		return distance(t, group)
	}
	if cluster.BuiltIn(group) { // those of the program that has put the finalizer there may use it
		domain, _, slashed := strings.Cut(finalizer, "/")
		if !slashed || cluster.BuiltIn(domain) {
			return all
		}
		apart = func(t graph.Type) int {
			if t.Group == domain || strings.HasSuffix(t.Group, "."+domain) ||
				!cluster.BuiltIn(t.Group) && strings.HasSuffix(domain, "."+t.Group) {
				return 0
			}
			return 2
		}
	}
	var owned []namer
	if listed {
		for edge := range e.Graph.Dependents(id) {
			n := namer{ref: e.Graph.Ref(edge.Dependent), field: ownersField}
			n.deleting = e.Graph.DeletionTimestamp(edge.Dependent) != 0
			n.owned = !n.deleting && e.Graph.Observed(edge.Dependent) && cluster.OfOneDomain(n.ref.Group(), group) &&
				e.deletedAfter(edge.Dependent, o)
			if n.deleting {
				all = append(all, n)
			} else if n.owned {
				owned = append(owned, n)
			}
		}
	}
	looked, counts := 0, counted(e.Graph, o.GetNamespace())
	types := slices.Clone(e.Graph.Types())
	slices.SortStableFunc(types, func(a, b graph.Type) int { return cmp.Compare(apart(a), apart(b)) })
	for _, t := range types {
		if apart(t) > 1 {
			continue
		}
		of := t.GroupResource()
		if counts[of] == 0 || counts[of] > longestNaming {
			continue
		}
		if looked++; looked > mostNaming {
			break
		}
		for _, by := range e.List(ctx, t, o.GetNamespace()) {
			if field := naming(by, o); field != "" && !owns(o, by) && by.GetUID() != o.GetUID() {
				_, unwell := e.needs.unwell(by)
				all = append(all,
					namer{ref: e.Ref(by), field: field, deleting: by.GetDeletionTimestamp() != nil, unwell: unwell})
			}
		}
	}
	return append(all, owned...)
}

// once leaves out an object that stands before for another reason.
func once(by []namer) []namer {
	seen := map[v1alpha1.ObjectRef]bool{}
	return slices.DeleteFunc(by, func(n namer) bool {
		before := seen[n.ref]
		seen[n.ref] = true
		return before
	})
}

// behindDependents puts a finding behind what keeps the dependents among namers, and those that the
// object says that somebody waits for, that are being deleted as well, and that a finalizer holds
// themselves.
func (e *Examiner) behindDependents(f core.Finding, by []namer) core.Finding {
	for _, n := range by {
		if id, listed := e.Graph.Lookup(n.ref.UID); listed && (n.goesFirst() || n.told && n.deleting) &&
			len(core.Others(e.Graph.Finalizers(id))) > 0 && !cluster.BuiltIn(n.ref.Group()) && len(f.Users) < phrase.MaxNamed &&
			!slices.Contains(f.Users, id) {
			f.Users = append(f.Users, id)
			f.After = max(f.After, 1)
		}
	}
	return f
}

// deletedAfter reports whether the collector deletes a dependent of an object once that is gone,
// and not before: it has no other owner, and the object is deleted in the background (GC-053,
// GC-060, GC-067).
func (e *Examiner) deletedAfter(dependent graph.ID, o *unstructured.Unstructured) bool {
	for edge := range e.Graph.Owners(dependent) {
		if e.Graph.Ref(edge.Owner).UID != string(o.GetUID()) {
			return false
		}
	}
	return !slices.ContainsFunc(o.GetFinalizers(), func(name string) bool {
		return name == metav1.FinalizerDeleteDependents || name == metav1.FinalizerOrphanDependents
	})
}

// keepingOwners are the owners of an object that are not being deleted, and after whose group and kind
// a finalizer of the object is called: metal3data.infrastructure.cluster.x-k8s.io on an IPClaim is that
// of the Metal3Data which uses it, starrocks.com.starrockswarehouse/protection that of a
// StarRocksWarehouse (https://github.com/StarRocks/starrocks-kubernetes-operator/issues/622).
// Whoever works on owners of that kind keeps the object.
func (e *Examiner) keepingOwners(id graph.ID, o *unstructured.Unstructured) (all []namer) {
	for edge := range e.Graph.Owners(id) {
		group := graph.Ref{APIVersion: edge.APIVersion}.Group()
		if edge.Kind == o.GetKind() || e.Graph.State(edge.Owner) != graph.Active {
			continue
		}
		for _, name := range o.GetFinalizers() {
			rest, has := strings.ToLower(name), group != "" && strings.Contains(name, group)
			words := strings.FieldsFunc(strings.Replace(rest, group, "/", 1), func(r rune) bool { return r == '.' || r == '/' })
			if has && slices.Contains(words, strings.ToLower(edge.Kind)) {
				all = append(all, namer{ref: e.Graph.Ref(edge.Owner), owns: name})
			}
		}
	}
	return all
}

// distance is 0 for a type of an API group, 1 for one of another that may have policies for objects
// of that group, or classes and Gateways that take parameters from them, and 2 for all others.
func distance(t graph.Type, group string) int {
	resource := strings.ToLower(t.Resource)
	switch {
	case t.Group == group:
		return 0
	case resource == "gateways" || strings.HasSuffix(resource, "classes"):
		return 1
	case cluster.BuiltIn(t.Group) || !t.Namespaced || !strings.HasSuffix(resource, "policies"):
		return 2
	}
	return 1
}

// counted is how many objects were seen of each type, of namespaced ones in one namespace, or in all
// if that is empty.
func counted(g *graph.Graph, namespace string) map[schema.GroupResource]int {
	n := map[schema.GroupResource]int{}
	for id := range g.IDs() {
		t, _ := g.Type(id)
		if g.Observed(id) && (namespace == "" || !t.Namespaced || g.Namespace(id) == namespace) {
			n[t.GroupResource()]++
		}
	}
	return n
}

// naming is the field, or the label of the API group, in which an object names another as one of its
// kind; empty if it does not.
func naming(by, o *unstructured.Unstructured) string {
	group, kind := o.GroupVersionKind().Group, o.GetKind()
	spec, _, _ := unstructured.NestedMap(by.Object, "spec")
	for _, n := range namesIn(spec, "spec") {
		means := n.kind == kind && (n.group == "" || n.group == group) || n.kind == "" && (meansKind(n.stem, kind) ||
			cluster.BuiltIn(group) && strings.HasSuffix(n.stem, strings.ToLower(kind))) || // authSecretRef
			isParent(n, o)
		if by.GroupVersionKind().Group != group && !cluster.BuiltIn(group) { // only what says so means the object
			means = n.kind == kind && n.group == group &&
				(strings.HasPrefix(n.field, "spec.targetRef") || strings.HasSuffix(n.field, "parametersRef.name"))
		}
		if n.name == o.GetName() && means && !n.addressed && isIn(n.namespace, by, o) {
			return n.field
		}
	}
	for _, label := range slices.Sorted(maps.Keys(by.GetLabels())) {
		domain, key, _ := strings.Cut(label, "/")
		if definition, of, _ := strings.Cut(label, "."); key == "" && of == group { // infraenvs.agent-install.openshift.io
			domain, key = of, definition
		}
		if of, is := strings.CutSuffix(label, "-name"); is { // owner-name, owner-kind and owner-namespace of one domain
			labels := by.GetLabels()
			if labels[label] == o.GetName() && labels[of+"-kind"] == kind && isIn(labels[of+"-namespace"], by, o) {
				return "metadata.labels[" + label + "]"
			}
		}
		own := domain == group || strings.HasSuffix(group, "."+domain) // a release of Helm has the name of many objects
		if own && by.GetLabels()[label] == o.GetName() && isIn("", by, o) &&
			meansKind(strings.ReplaceAll(key, "-", ""), kind) {
			return "metadata.labels[" + label + "]"
		}
	}
	return ""
}

// meansKind reports whether what a field is called means a kind: it is called like that, or like
// its end, perhaps with what says that it is a name, a reference, or several.
func meansKind(key, kind string) bool {
	key, kind = strings.TrimPrefix(strings.ToLower(key), "default"), strings.ToLower(kind)
	for _, ending := range []string{"s", "name", "ref", "reference"} {
		key = strings.TrimSuffix(key, ending)
	}
	one := strings.TrimSuffix(kind, "s")
	return key != "" && key == one ||
		len(key) >= shortestEnd && (strings.HasSuffix(kind, key) || strings.HasSuffix(one, key))
}

// isParent reports whether a field names a Gateway as the parent of a route, which is meant where it
// says neither kind nor group (https://github.com/aws/aws-application-networking-k8s/issues/219).
func isParent(n namedIn, o *unstructured.Unstructured) bool {
	return strings.HasPrefix(n.field, "spec.parentRefs[") && n.kind == "" && n.group == "" && o.GetKind() == "Gateway" &&
		o.GroupVersionKind().Group == "gateway.networking.k8s.io"
}

// isIn reports whether a namespace beside a name, that of who names if it is empty, is that of an
// object.
func isIn(namespace string, by, o *unstructured.Unstructured) bool {
	if o.GetNamespace() == "" {
		return true
	}
	if namespace == "" {
		namespace = by.GetNamespace()
	}
	return namespace == o.GetNamespace()
}

// keptFor adds to a finding what refers to the object, and how to look at that.
func (e *Examiner) keptFor(f core.Finding, by []namer) core.Finding {
	for i, n := range by {
		if i == phrase.MaxNamed {
			f.Observe("%d more objects refer to it", len(by)-i)
			break
		}
		at := n.ref.Located()
		if n.field != "" && !n.told {
			at += " " + n.field
		}
		says := n.says()
		if n.unwell != "" {
			says += "; its " + n.unwell
		}
		f.Evidence = append(f.Evidence, core.ObservedAt(at, says)...)
		if n.owns != "" {
			continue
		}
		f.Commands = append(f.Commands, core.At(n.ref, core.InTheWay(n.deleting)))
	}
	return f
}
