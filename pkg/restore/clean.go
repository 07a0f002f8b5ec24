package restore

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// RestoredFrom is the annotation of an object that was created from an archive. Its value is the
// uid that the object had.
const RestoredFrom = "gc.kubectl.dev/restored-from"

// serverSet are the fields of metadata that the server sets or that describe a life that is over
// (API-038).
var serverSet = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
	"deletionGracePeriodSeconds", "managedFields", "selfLink", "ownerReferences"}

// collectors are the finalizers by which a deletion tells the garbage collector what to do. A new
// object that had one would begin its life with a policy for its end.
var collectors = []string{metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents}

// Creatable returns a copy of an archived object that a server can create: without what servers and
// controllers set, without ownerReferences, which the caller maps to new uids, and with the
// annotation RestoredFrom. Of the built-in kinds it leaves out what belongs to the old object
// alone; kinds.go says what.
func Creatable(archived *unstructured.Unstructured) *unstructured.Unstructured {
	o := archived.DeepCopy()
	metadata, _ := o.Object["metadata"].(map[string]any)
	for _, field := range serverSet {
		delete(metadata, field)
	}
	delete(o.Object, "status")
	if kept := slices.DeleteFunc(o.GetFinalizers(),
		func(f string) bool { return slices.Contains(collectors, f) }); len(kept) > 0 {
		o.SetFinalizers(kept)
	} else {
		delete(metadata, "finalizers")
	}
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[RestoredFrom] = string(archived.GetUID())
	o.SetAnnotations(annotations)
	if clean := cleaners[o.GroupVersionKind().GroupKind()]; clean != nil {
		clean(o.Object, string(archived.GetUID()))
	}
	return o
}

// cleaners take from objects of the built-in kinds what only the old object could have. They get
// its uid.
var cleaners = map[schema.GroupKind]func(o map[string]any, uid string){
	{Kind: "Namespace"}:             cleanNamespace,
	{Kind: "Pod"}:                   cleanPod,
	{Kind: "PersistentVolumeClaim"}: cleanClaim,
	{Kind: "PersistentVolume"}:      cleanVolume,
	{Kind: "Secret"}:                cleanSecret,
	{Kind: "Service"}:               cleanService,
	{Group: "batch", Kind: "Job"}:   cleanJob,
}

// remove removes a field, if it is there.
func remove(o map[string]any, path ...string) { unstructured.RemoveNestedField(o, path...) }

// cleanNamespace: the server sets spec.finalizers itself (NS-001).
func cleanNamespace(o map[string]any, _ string) { remove(o, "spec", "finalizers") }

// cleanPod: a pod is scheduled anew; its priority is computed from its class; ephemeral containers
// cannot be created with it.
func cleanPod(o map[string]any, _ string) {
	remove(o, "spec", "nodeName")
	remove(o, "spec", "ephemeralContainers")
	if class, _, _ := unstructured.NestedString(o, "spec", "priorityClassName"); class != "" {
		remove(o, "spec", "priority")
	}
}

// The annotations with which the controller of volumes says that it has bound a claim and a volume.
// A claim that has the first and is not bound is Lost.
const (
	bindCompleted     = "pv.kubernetes.io/bind-completed"
	boundByController = "pv.kubernetes.io/bound-by-controller"
	selectedNode      = "volume.kubernetes.io/selected-node"
)

// cleanClaim leaves spec.volumeName; whether the volume is still there decides.
func cleanClaim(o map[string]any, _ string) {
	for _, annotation := range []string{bindCompleted, boundByController, selectedNode} {
		remove(o, "metadata", "annotations", annotation)
	}
}

// cleanVolume reserves the volume for the claim of the name, whatever its uid.
func cleanVolume(o map[string]any, _ string) {
	remove(o, "metadata", "annotations", boundByController)
	remove(o, "spec", "claimRef", "uid")
	remove(o, "spec", "claimRef", "resourceVersion")
}

// cleanSecret: the token of a ServiceAccount is valid for its uid only; the controller of tokens
// writes a new one, and deletes a Secret with the uid of another.
func cleanSecret(o map[string]any, _ string) {
	if kind, _, _ := unstructured.NestedString(o, "type"); kind != "kubernetes.io/service-account-token" {
		return
	}
	remove(o, "metadata", "annotations", "kubernetes.io/service-account.uid")
	for _, key := range []string{"token", "ca.crt", "namespace"} {
		remove(o, "data", key)
	}
}

// cleanService: without a cluster IP of its own, an ExternalName has none to keep.
func cleanService(o map[string]any, _ string) {
	if kind, _, _ := unstructured.NestedString(o, "spec", "type"); kind == "ExternalName" {
		remove(o, "spec", "clusterIP")
		remove(o, "spec", "clusterIPs")
	}
}

// jobLabels are those by which a Job finds its pods; the server generates them from its uid and
// name, unless spec.manualSelector says otherwise.
var jobLabels = []string{"controller-uid", "batch.kubernetes.io/controller-uid", "job-name",
	"batch.kubernetes.io/job-name"}

// cleanJob has the server generate the selector for the new uid.
func cleanJob(o map[string]any, uid string) {
	if manual, _, _ := unstructured.NestedBool(o, "spec", "manualSelector"); manual {
		return
	}
	remove(o, "spec", "selector")
	for _, label := range jobLabels {
		remove(o, "spec", "template", "metadata", "labels", label)
	}
	labels, _, _ := unstructured.NestedStringMap(o, "metadata", "labels")
	if labels["controller-uid"] == uid || labels["batch.kubernetes.io/controller-uid"] == uid { // copied from the template
		maps.DeleteFunc(labels, func(key, _ string) bool { return key == jobLabels[0] || key == jobLabels[1] })
		_ = unstructured.SetNestedStringMap(o, labels, "metadata", "labels") // it was one
	}
}

// dropAllocations removes what the server has chosen from what was free: the addresses and ports of
// a Service. It chooses again when the object is created without them.
func dropAllocations(o *unstructured.Unstructured) {
	if o.GroupVersionKind().GroupKind() != (schema.GroupKind{Kind: "Service"}) {
		return
	}
	if ip := status.Nested(o, "spec", "clusterIP"); ip != "None" {
		remove(o.Object, "spec", "clusterIP")
		remove(o.Object, "spec", "clusterIPs")
	}
	remove(o.Object, "spec", "healthCheckNodePort")
	ports, _, _ := unstructured.NestedSlice(o.Object, "spec", "ports")
	for _, port := range ports {
		if port, ok := port.(map[string]any); ok {
			delete(port, "nodePort")
		}
	}
	_ = unstructured.SetNestedSlice(o.Object, ports, "spec", "ports") // it was one
}

// volume is what is known of a PersistentVolume.
type volume struct {
	graph.Type
	found bool
	uid   string
	// claim names the claim that it is bound to or reserved for, as NAMESPACE/NAME, and claimUID is
	// its uid; both are empty for none.
	claim, claimUID string
	err             error
}

// of reports whether the volume is bound to or reserved for a claim of this name.
func (v volume) of(it *item) bool { return v.claim == it.ref.Namespace+"/"+it.ref.Name }

// taken reports whether it belongs to another claim than the archived one.
func (v volume) taken(it *item) bool {
	return v.found && v.claim != "" && (!v.of(it) || v.claimUID != "" && v.claimUID != it.ref.UID)
}

// volumeOf reads a PersistentVolume. One that is being deleted is as good as gone.
func volumeOf(ctx context.Context, client *cluster.Client, t graph.Type, name string) volume {
	o, err := client.GetObject(ctx, t, "", name)
	switch {
	case cluster.IsAbsent(err, t, name):
		return volume{}
	case err != nil:
		return volume{err: err}
	case o.GetDeletionTimestamp() != nil:
		return volume{}
	}
	v := volume{Type: t, found: true, uid: string(o.GetUID())}
	if name := status.Nested(o, "spec", "claimRef", "name"); name != "" {
		v.claim = status.Nested(o, "spec", "claimRef", "namespace") + "/" + name
		v.claimUID = status.Nested(o, "spec", "claimRef", "uid")
	}
	return v
}

// BoundVolume returns the PersistentVolume that is bound to an archived claim by the uid that the
// claim had; nil if there is none, or it belongs to another claim by now. The error is the
// server's.
func BoundVolume(ctx context.Context, client *cluster.Client, volumes graph.Type,
	claim *unstructured.Unstructured) (*graph.Ref, error) {
	it, err := newItem(claim)
	if err != nil || it.facts.volume == "" {
		return nil, err
	}
	v := volumeOf(ctx, client, volumes, it.facts.volume)
	if !v.found || !v.of(it) || v.claimUID != it.ref.UID {
		return nil, v.err
	}
	ref := v.Ref("", it.facts.volume, v.uid)
	return &ref, nil
}

// RebindVolume gives a PersistentVolume that is bound to a claim the uid that the claim has now;
// the controller of volumes binds them then. Nothing is written if it has that uid already, or is
// bound to another than the old one. The errors are those of change.Write, and change.ErrNotShown.
func RebindVolume(ctx context.Context, client *cluster.Client, volumes graph.Type, volume graph.Ref, oldUID,
	newUID string) error {
	o := change.Object{Server: client, Type: volumes, Ref: volume}
	var version, bound string
	read := func(ctx context.Context) (string, error) {
		now, err := o.ReadContent(ctx)
		if err != nil {
			return "", err
		}
		version, bound = now.GetResourceVersion(), status.Nested(now, "spec", "claimRef", "uid")
		return version, nil
	}
	return change.Write{
		Read: read,
		Decide: func(context.Context) (func(context.Context) error, error) {
			switch bound {
			case newUID:
				return nil, nil
			case oldUID:
			default:
				return nil, errors.New("it is bound to another claim by now")
			}
			return func(ctx context.Context) error {
				_, refusal := o.Send(ctx, version, []cluster.PatchStep{
					{Op: "test", Path: claimUID, Value: oldUID}, {Op: "replace", Path: claimUID, Value: newUID},
				}, cluster.PatchOptions{})
				// The answer of a patch is metadata alone, and it can be lost on its way.
				switch _, err := read(ctx); {
				case err == nil && bound == newUID:
					return nil
				case refusal == nil:
					return cmp.Or(err, change.ErrNotShown)
				}
				return refusal
			}, nil
		},
	}.Do(ctx)
}

// claimUID is where a volume has the uid of its claim.
const claimUID = "/spec/claimRef/uid"
