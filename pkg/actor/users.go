package actor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

const (
	// PVCFinalizer keeps a PersistentVolumeClaim while a pod uses it.
	PVCFinalizer = "kubernetes.io/pvc-protection"
	// VolumeFinalizer keeps a PersistentVolume while it is bound.
	VolumeFinalizer = "kubernetes.io/pv-protection"
	// SnapshotSourceFinalizer keeps a PersistentVolumeClaim while a snapshot of it is not ready
	// (https://github.com/kubernetes-csi/external-snapshotter/blob/afb2f0d85e00/pkg/utils/util.go#L88).
	SnapshotSourceFinalizer = "snapshot.storage.kubernetes.io/pvc-as-source-protection"
)

var snapshots = schema.GroupResource{Group: "snapshot.storage.k8s.io", Resource: "volumesnapshots"}

// User is an object that uses another, and how it says so: Use is empty where no pack says it.
type User struct {
	Object *unstructured.Unstructured
	finalizer.Use
}

// For is the object for which a user is, its controller or what it refers to; nil if it says
// neither.
func (u User) For() *metav1.OwnerReference {
	if c := metav1.GetControllerOf(u.Object); c != nil || u.ForField == "" {
		return c
	}
	field := func(name string) string { return status.FieldOr(u.Object, u.ForField+"."+name, "") }
	if field("kind") == "" || field("name") == "" {
		return nil
	}
	return &metav1.OwnerReference{APIVersion: field("apiVersion"), Kind: field("kind"), Name: field("name")}
}

// String names it, and the object for which it is if that is what has to be deleted.
func (u User) String() string {
	s := cluster.Located(u.Object)
	if c := u.For(); u.ForField != "" && c != nil {
		s += " for " + c.Kind + " " + c.Name
	}
	return s
}

// findUsers finds the objects that use the one that has the finalizer of an actor.
func (f *Finder) findUsers(ctx context.Context, o *unstructured.Unstructured, a *Actor) {
	switch a.Finalizer {
	case PVCFinalizer:
		a.use(PodsUsing(ctx, f.reader, o.GetNamespace(), o.GetName()))
	case SnapshotSourceFinalizer:
		a.use(SnapshotsOf(ctx, f.reader, o.GetNamespace(), o.GetName()))
	case RangeFinalizer:
		a.use(AddressesIn(ctx, f.reader, o))
	case VolumeFinalizer:
		claim, err := ClaimOf(ctx, f.reader, o)
		if a.UsersUnread = err; claim != nil {
			a.Users = []User{{Object: claim}}
		}
	}
	for _, u := range a.Known.UsedBy {
		f.addUsers(ctx, o, u, a)
	}
}

func (a *Actor) use(users []*unstructured.Unstructured, err error) {
	a.UsersUnread = err
	for _, o := range users {
		a.Users = append(a.Users, User{Object: o})
	}
}

// addUsers adds the objects of a kind that use another.
func (f *Finder) addUsers(ctx context.Context, o *unstructured.Unstructured, u finalizer.Use, a *Actor) {
	group, _ := a.Known.Fill(u.Group, Fields(o, a.Finalizer))
	// Of a kind that discovery does not show, the reader reports whether that proves anything.
	of, namespace := schema.GroupResource{Group: group, Resource: strings.ToLower(u.Kind)}, ""
	if r, served := f.reader.KindIn(group, u.Kind); served {
		of.Resource = r.Resource
		if r.Namespaced && u.Scope == finalizer.SameNamespace {
			namespace = o.GetNamespace()
		}
	}
	list, err := f.reader.ListObjects(ctx, of, namespace, cluster.Selection{})
	a.UsersUnread = cmp.Or(a.UsersUnread, err)
	for _, by := range list {
		if namesAs(by, u, o) && u.Uses(by.Object) {
			a.Users = append(a.Users, User{by, u})
		}
	}
}

// namesAs reports whether an object names another as the one that it uses.
func namesAs(by *unstructured.Unstructured, u finalizer.Use, o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(u.Names(by.Object), func(at map[string]any) bool {
		return namesHere(by, &unstructured.Unstructured{Object: at}, u, o)
	})
}

// namesHere says so of one place where an object names what it uses: itself, or an item of a list.
func namesHere(by, at *unstructured.Unstructured, u finalizer.Use, o *unstructured.Unstructured) bool {
	if status.FieldOr(at, u.NameField, u.Name) != o.GetName() {
		return false
	}
	if status.FieldOr(at, u.KindField, o.GetKind()) != o.GetKind() {
		return false
	}
	return u.Scope != finalizer.ByField || o.GetNamespace() == "" ||
		status.FieldOr(at, u.NamespaceField, by.GetNamespace()) == o.GetNamespace()
}

// PodsUsing returns the pods that keep a PersistentVolumeClaim.
func PodsUsing(ctx context.Context, r *cluster.Reader, namespace, claim string) ([]*unstructured.Unstructured, error) {
	return using(ctx, r, cluster.Pods, namespace, func(pod *unstructured.Unstructured) bool { return mounts(pod, claim) })
}

// SnapshotsOf returns the VolumeSnapshots of a PersistentVolumeClaim that are not ready.
func SnapshotsOf(ctx context.Context, r *cluster.Reader, namespace, claim string) ([]*unstructured.Unstructured,
	error) {
	return using(ctx, r, snapshots, namespace, func(o *unstructured.Unstructured) bool {
		ready, _, _ := unstructured.NestedBool(o.Object, "status", "readyToUse")
		return !ready && status.Nested(o, "spec", "source", "persistentVolumeClaimName") == claim
	})
}

func using(ctx context.Context, r *cluster.Reader, of schema.GroupResource, namespace string,
	uses func(*unstructured.Unstructured) bool) ([]*unstructured.Unstructured, error) {
	all, err := r.ListObjects(ctx, of, namespace, cluster.Selection{})
	return slices.DeleteFunc(slices.Clone(all), func(o *unstructured.Unstructured) bool { return !uses(o) }), err
}

// ClaimOf returns the claim to which a PersistentVolume is bound, nil if it is bound to none that
// exists.
func ClaimOf(ctx context.Context, r *cluster.Reader, volume *unstructured.Unstructured) (*unstructured.Unstructured,
	error) {
	ref := func(field string) string { return status.Nested(volume, "spec", "claimRef", field) }
	if status.Nested(volume, "status", "phase") != "Bound" || ref("name") == "" {
		return nil, nil
	}
	claim, err := r.GetObject(ctx, cluster.PVCs, ref("namespace"), ref("name"))
	if claim != nil && ref("uid") != "" && string(claim.GetUID()) != ref("uid") {
		claim = nil
	}
	return claim, err
}

// mounts reports whether a pod keeps a PVC of its namespace: one that is scheduled and names it,
// whatever its phase. A PVC of its own, for an ephemeral volume, it keeps until the kubelet is done
// with it.
func mounts(pod *unstructured.Unstructured, claim string) bool {
	if node := status.Nested(pod, "spec", "nodeName"); node == "" {
		return false
	}
	grace := pod.GetDeletionGracePeriodSeconds()
	ended := pod.GetDeletionTimestamp() != nil && grace != nil && *grace == 0
	volumes, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
	return slices.ContainsFunc(volumes, func(item any) bool {
		m, _ := item.(map[string]any)
		named, _, _ := unstructured.NestedString(m, "persistentVolumeClaim", "claimName")
		return named == claim || m["ephemeral"] != nil && !ended && pod.GetName()+"-"+status.Text(m, "name") == claim
	})
}

// Needed is an object without which an actor cannot do its work for another one.
type Needed struct {
	Type graph.Type
	// Namespace is empty of a namespaced type if it may be in any.
	Namespace, Name string
	// NamedBy is the object that names it, in Field: the other one, or one that is needed for that.
	NamedBy *unstructured.Unstructured
	Field   string
	// IfGone is what to do where it does not exist, if that is not to create it again.
	IfGone string
}

// Needed are the objects that the actor of a finalizer of an object needs by its pack, whether they
// exist or not. What only an object names that cannot be read is not among them. An actor that the
// object tells to leave what it manages outside the cluster needs nothing.
func (f *Finder) Needed(ctx context.Context, o *unstructured.Unstructured, a Actor) []Needed {
	if !a.IsKnown {
		return nil
	}
	if _, leaves := a.Known.Leaves(o.Object); leaves {
		return nil
	}
	return f.Named(ctx, o, a, a.Known.Needs)
}

// Deletes reports whether one of some objects that an object names, or of those that these name in
// turn, is being deleted. The error is that of one that could not be read, if none of the others
// is.
func (f *Finder) Deletes(ctx context.Context, o *unstructured.Unstructured, a Actor, named []finalizer.Need) (bool,
	error) {
	var unread error
	for _, n := range f.Named(ctx, o, a, named) {
		of, err := f.reader.GetObject(ctx, n.Type.GroupResource(), n.Namespace, n.Name)
		if err == nil && of != nil && of.GetDeletionTimestamp() != nil {
			return true, nil
		}
		unread = cmp.Or(unread, err)
	}
	return false, unread
}

// filler fills a group or a name with what is known of an object; false if that is not enough.
func filler(o *unstructured.Unstructured, known finalizer.Known, name string) func(string) (string, bool) {
	return func(pattern string) (string, bool) {
		filled, unfilled := known.Fill(pattern, Fields(o, name))
		return filled, len(unfilled) == 0
	}
}

// Deciding returns the object that has a field by which an actor decides, as the object with its
// finalizer names it: nil if it names none, or if the one that it names is proven to be absent.
// That its kind is not served proves nothing.
func (f *Finder) Deciding(ctx context.Context, o *unstructured.Unstructured, known finalizer.Known, name string,
	of finalizer.Need) (*unstructured.Unstructured, error) {
	if called := status.FieldOr(o, of.NameField, of.Name); called == "" || !of.Applies(o.Object) {
		return nil, nil
	}
	needed, ok := f.named(o, o.Object, of, filler(o, known, name))
	if !ok {
		return nil, fmt.Errorf("the kind %s is not served", of.Kind)
	}
	return f.reader.GetObject(ctx, needed.Type.GroupResource(), needed.Namespace, needed.Name)
}

// named returns what an object names in one place, itself or an item of a list, of a kind that is needed;
// false if it names nothing, or what is not served.
func (f *Finder) named(o *unstructured.Unstructured, place map[string]any, n finalizer.Need,
	fill func(string) (string, bool)) (Needed, bool) {
	at := &unstructured.Unstructured{Object: place}
	group, filled := fill(n.Group)
	if n.GroupField != "" {
		group = graph.Ref{APIVersion: status.FieldOr(at, n.GroupField, "")}.Group()
	}
	t, served := f.reader.KindIn(group, status.FieldOr(at, n.KindField, n.Kind))
	otherwise, said := fill(n.Name)
	name := status.FieldOr(at, n.NameField, otherwise)
	if !filled || !said && name == otherwise || !served || name == "" || !n.Applies(o.Object) {
		return Needed{}, false
	}
	needed := Needed{Type: t.Type, Name: name, NamedBy: o, Field: n.At(n.NameField), IfGone: n.IfGone}
	if t.Namespaced && n.Scope != finalizer.ClusterWide {
		needed.Namespace = status.FieldOr(at, n.NamespaceField, o.GetNamespace())
	}
	return needed, true
}

// neededBy are the objects that one names of some that are needed, and those that these name in
// turn.
func (f *Finder) neededBy(ctx context.Context, o *unstructured.Unstructured, needs []finalizer.Need,
	fill func(string) (string, bool)) []Needed {
	var all []Needed
	for _, n := range needs {
		for _, place := range n.Names(o.Object) {
			if needed, ok := f.named(o, place, n, fill); ok {
				all = append(append(all, needed), f.neededInTurn(ctx, needed, n.Needs, fill)...)
			}
		}
	}
	return all
}

// neededInTurn are the objects that one that is needed names.
func (f *Finder) neededInTurn(ctx context.Context, needed Needed, needs []finalizer.Need,
	fill func(string) (string, bool)) []Needed {
	t := needed.Type
	if len(needs) == 0 || t.Namespaced && needed.Namespace == "" {
		return nil
	}
	of, err := f.reader.GetObject(ctx, t.GroupResource(), needed.Namespace, needed.Name)
	if err != nil || of == nil {
		return nil
	}
	return f.neededBy(ctx, of, needs, fill)
}

// Named are the objects that one names of some kinds, and those that these name in turn.
func (f *Finder) Named(ctx context.Context, o *unstructured.Unstructured, a Actor, of []finalizer.Need) []Needed {
	return f.neededBy(ctx, o, of, filler(o, a.Known, a.Finalizer))
}
