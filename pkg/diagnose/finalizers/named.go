package finalizers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// mostNamed is how many of the objects that the spec of one names are looked for.
const mostNamed = 4

// named is what was seen of the objects that the spec and the labels of a custom resource name by
// the conventions of the API, and that whoever cleans up after it may need. Absent are those that
// are proven not to exist; so are those that an object of its own group names in turn, which it
// names: the connection to a server that is gone. What is written for the object is left out. First
// is the first.
//
// Failing are those of the group that are there, and say themselves that they are not well or have
// pods that do not run; and leaving those that are being deleted as well, which may wait for the
// object in turn. Unseen are the names in references of which nobody knows the kind, and that nothing
// in the namespace has.
type named struct {
	absent, failing, unseen []v1alpha1.Observation
	// classes say which controller a class that it names is for.
	classes []v1alpha1.Observation
	first   v1alpha1.ObjectRef
	leaving []namedObject
	// unmatched says that the first is named in a version that is not served.
	unmatched bool
}

// What a pack says that is needed, and not of this object, is left out.
func (e dependencies) whatItNames(ctx context.Context, o *unstructured.Unstructured,
	needs ...finalizer.Need) (all named) {
	// What a built-in object names is the business of Kubernetes, but for the class of an Ingress, by
	// which controllers choose.
	if cluster.BuiltIn(o.GroupVersionKind().Group) && o.GetKind() != "Ingress" || o.GetDeletionTimestamp() == nil {
		return all
	}
	absent, there, unknown := e.looked(ctx, o)
	absent = slices.DeleteFunc(absent, func(n namedObject) bool {
		return slices.ContainsFunc(needs, func(by finalizer.Need) bool {
			return by.NameField == n.field && !by.Applies(o.Object)
		})
	})
	for _, n := range absent[:min(len(absent), 1)] {
		all.first, all.unmatched = n.ref, strings.Contains(n.unserved, "/")
	}
	for _, n := range unknown {
		if e.nothingCalled(o.GetNamespace(), n.name) {
			all.unseen = append(all.unseen, core.ObservedAt(cluster.Place(o, n.field),
				fmt.Sprintf("its %s is %s, and nothing in namespace %s has that name", n.field, n.name, o.GetNamespace()))...)
		}
	}
	for _, n := range absent {
		says := fmt.Sprintf("its %s names %s, which does not exist", n.field, n.ref.Located())
		if n.bare {
			says = fmt.Sprintf("its %s is %s, and there is no %s of that name", n.field, n.ref.Name, n.ref.Kind)
			if n.ref.Namespace != "" {
				says += " in namespace " + n.ref.Namespace
			}
		} else if n.unserved != "" {
			says = fmt.Sprintf("its %s names %s, and the cluster serves no %s of %s", n.field, n.ref.Located(), n.ref.Kind,
				n.unserved)
		}
		all.absent = append(all.absent, core.ObservedAt(cluster.Place(o, n.field), says)...)
	}
	for _, by := range there {
		if field, name := controllerOf(by.object); name != "" && strings.HasSuffix(by.ref.Kind, "Class") {
			all.classes = append(all.classes, core.ObservedAt(cluster.Place(by.object, field),
				fmt.Sprintf("its %s names %s, whose %s is %s", by.field, by.ref.Located(), field, name))...)
		}
		if by.object.GroupVersionKind().Group != o.GroupVersionKind().Group {
			continue
		}
		names := fmt.Sprintf("its %s names %s", by.field, by.ref.Located())
		if strings.HasPrefix(by.field, "metadata.labels[") && owns(by.object, o) && by.object.GetDeletionTimestamp() != nil {
			continue // it is labelled by its owner, which waits for it
		}
		if by.object.GetDeletionTimestamp() != nil {
			all.leaving = append(all.leaving, by)
			all.failing = append(all.failing, core.ObservedAt(cluster.Place(by.object, "metadata.deletionTimestamp"),
				names+", which is being deleted as well"+behind(by.object))...)
		} else if field, says := e.unwell(by.object); says != "" {
			all.failing = append(all.failing, core.ObservedAt(cluster.Place(by.object, field), names+", of which "+says)...)
		}
		all.failing = append(all.failing, e.ownDown(ctx, by.object, names+", which")...)
		absent, _, _ := e.looked(ctx, by.object)
		for _, n := range absent {
			if n.bare || n.unserved != "" {
				continue
			}
			all.absent = append(all.absent, core.ObservedAt(cluster.Place(by.object, n.field),
				fmt.Sprintf("its %s names %s, whose %s names %s, which does not exist", by.field, by.ref.Located(),
					n.field, n.ref.Located()))...)
		}
	}
	return all
}

// owns reports whether an object is an owner of another.
func owns(owner, o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(),
		func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() })
}

// unwell is what an object says of itself that is not well, as a clause, and where: a condition
// that fails, or the stage in which it is. It is empty if it says nothing of that.
func (e dependencies) unwell(o *unstructured.Unstructured) (field, says string) {
	if failing := status.Failing(o); len(failing) > 0 {
		return failing[0].Field, strings.Replace(e.Quoted(failing[0]), "its ", "", 1)
	}
	if stage := status.Stage(o); status.IsUnsettled(stage.Text) {
		return stage.Field, fmt.Sprintf("%s is %s", stage.Field, core.Brief(stage.Text))
	}
	return "", ""
}

// behind says that the controller of an object has not seen its last generation, which a deletion
// raises too (k8s.io/apiserver/pkg/registry/rest/delete.go, BeforeDelete): who goes by that waits
// for ever, as KubeBlocks did (https://github.com/apecloud/kubeblocks/issues/7981).
func behind(o *unstructured.Unstructured) string {
	seen, said, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	if !said || seen >= o.GetGeneration() {
		return ""
	}
	return fmt.Sprintf(" (its status.observedGeneration is %d, its generation %d)", seen, o.GetGeneration())
}

// namedObject is an object that a field names; nil if it is proven to be absent. That of a bare
// field may be the name of something outside the cluster, or of another kind. Unserved is the group
// of which the cluster serves no such kind, or the version in which it does not serve it.
type namedObject struct {
	field    string
	ref      v1alpha1.ObjectRef
	object   *unstructured.Unstructured
	bare     bool
	unserved string
}

// nothingCalled reports whether a namespace of which all is listed has nothing of a name.
func (e dependencies) nothingCalled(namespace, name string) bool {
	if namespace == "" || len(e.Gaps) > 0 {
		return false
	}
	for id := range e.Graph.InNamespace(namespace) {
		if e.Graph.Name(id) == name {
			return false
		}
	}
	return true
}

// looked are the objects that the spec and the labels of a custom resource name: those that are
// absent, those that are there, and the references of which nobody knows the kind.
func (e dependencies) looked(ctx context.Context, o *unstructured.Unstructured) (absent, there []namedObject,
	unknown []namedIn) {
	asked := 0
	for _, n := range slices.Concat(namesOf(o), credentials(o), e.namedInLabels(o)) {
		if cluster.BuiltIn(o.GroupVersionKind().Group) && n.stem != "ingressclass" {
			continue // a Secret of an Ingress is not what is needed to clean up
		}
		r, known := e.kindNamed(o.GroupVersionKind().Group, n)
		if !known && n.isTyped() && !n.loose && !n.isMade() && !e.MayBeServed(n.group) {
			ref := v1alpha1.ObjectRef{Kind: n.kind, Namespace: n.namespace, Name: n.name}
			absent = append(absent, namedObject{n.field, ref, nil, false, n.group})
			continue
		}
		if known && e.unmatched(o, n, r) {
			absent = append(absent, namedObject{n.field, n.refTo(r, o), nil, false, n.apiVersion})
			continue
		}
		if n.isFree() && !(known && cluster.OfOneDomain(r.Group, o.GroupVersionKind().Group)) {
			continue
		}
		guessed := false
		if !known {
			r, known = e.kindOwning(o, n)
		}
		if !known {
			r, guessed = e.kindLike(o.GroupVersionKind().Group, n)
		}
		if !known && !guessed {
			r, guessed = e.kindBefore(o, n)
		}
		if !known && !guessed {
			r, guessed = e.kindOfProgram(o, n)
		}
		within := false
		if !known && !guessed {
			r, within = e.kindWithin(o, n)
		}
		bare := n.bare && (known && isBareKind(o.GroupVersionKind().GroupKind(), r, n.stem) ||
			guessed && (n.several || alikeBut(r.Kind, o.GetKind(), n.stem)))
		if !known && !guessed && !within {
			r, known = e.kindMissed(o, n)
			bare = known
		}
		placed := within && n.placesAt(r)
		if n.loose && !bare || n.isMade() && !placed && !e.beginsWith(o, n) || !known && !guessed && !within ||
			asked == mostNamed {
			if !known && !guessed && !within && n.isReference() && len(unknown) < mostNamed {
				unknown = append(unknown, n)
			}
			continue
		}
		ref := n.refTo(r, o)
		if r.Namespaced && ref.Namespace == "" || slices.ContainsFunc(slices.Concat(absent, there), func(by namedObject) bool { return by.ref == ref }) {
			continue
		}
		asked++
		object, err := e.Reader.GetObject(ctx, r.GroupResource(), ref.Namespace, ref.Name)
		switch {
		case err != nil, object == nil && (within && !placed || guessed && !n.mayMean(r, o.GetKind())):
		case placed && object == nil && r.Namespaced && !e.Absent(ctx, r.Type, core.RefTo(r.Type, "", n.name)):
		case object != nil && object.GetUID() == o.GetUID(): // the username of a user of that name
		case object == nil:
			absent = append(absent, namedObject{n.field, ref, nil, bare || guessed || placed, ""})
		default:
			there = append(there, namedObject{n.field, ref, object, bare, ""})
		}
	}
	return absent, there, unknown
}
