package workloads

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// ReservedFinalizer keeps a ResourceClaim while it is allocated and reserved for a pod
// (https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/apis/resource/types.go#L34).
const ReservedFinalizer = "resource.kubernetes.io/delete-protection"

// Reserved returns the pods for which a ResourceClaim is reserved: those that are not being
// deleted, and what keeps those that are. If none is there any more, the controller of claims has
// not seen it.
func (e *Examiner) Reserved(ctx context.Context, id graph.ID) []core.Finding {
	by := e.ByActor(ctx, id, ReservedFinalizer)
	o := e.Own(ctx, id)
	if o == nil {
		return by
	}
	var own []core.Finding
	var over []v1alpha1.Observation
	unknown := false
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "reservedFor")
	for _, item := range list {
		m, _ := item.(map[string]any)
		name, uid := status.Text(m, "name"), status.Text(m, "uid")
		if status.Text(m, "apiGroup") != "" || status.Text(m, "resource") != cluster.Pods.Resource {
			user, says := e.otherUser(ctx, o.GetNamespace(), m)
			if user != nil && (uid == "" || string(user.GetUID()) == uid) {
				own = append(own, e.reservedFor(ctx, e.Graph.Ref(id), user)...)
				continue
			}
			unknown = unknown || says != ""
			over = append(over, core.ObservedAt(cluster.Place(o, "status.reservedFor"),
				fmt.Sprintf("it is reserved for %s %s%s", status.Text(m, "resource"), name,
					cmp.Or(says, ", which no longer exists")))...)
			continue
		}
		pod, err := e.Reader.GetObject(ctx, cluster.Pods, o.GetNamespace(), name)
		switch {
		case err != nil:
			unknown = true
			over = append(over, core.ObservedAt(cluster.Place(o, "status.reservedFor"),
				fmt.Sprintf("it is reserved for Pod %s, which cannot be read: %v", name, err))...)
		case pod == nil || uid != "" && string(pod.GetUID()) != uid:
			over = append(over, core.ObservedAt(cluster.Place(o, "status.reservedFor"),
				fmt.Sprintf("it is reserved for Pod %s, which no longer exists", name))...)
		case status.Ended(pod):
			over = append(over, core.ObservedAt(cluster.Place(o, "status.reservedFor"),
				fmt.Sprintf("it is reserved for Pod %s, which has ended", name))...)
		default:
			own = append(own, e.reservedFor(ctx, e.Graph.Ref(id), pod)...)
		}
	}
	switch {
	case len(own) > 0:
		return own
	case len(list) == 0:
		return core.WithEvidence(by, over...)
	case unknown:
		return core.Each(core.WithEvidence(by, over...), func(f *core.Finding) {
			if f.Code == core.FinalizerActorAlive {
				f.Remedy = "See to what status.reservedFor names: the claim is released when that has ended or is deleted."
			}
		})
	}
	by = core.WithEvidence(by, over...)
	for i := range by {
		if by[i].Code == core.FinalizerActorAlive {
			by[i].Remedy = "No pod uses the device, and the controller has not noticed: some versions ignore claims that were already being deleted when they started. " +
				"Start kube-controller-manager again; if that does not help, upgrade it, or remove the finalizer by hand."
		}
	}
	return by
}

// otherUser reads what a ResourceClaim is reserved for that is no pod, such as a PodGroup; nil if
// it is gone, or with why it is not known.
func (e *Examiner) otherUser(ctx context.Context, namespace string, m map[string]any) (o *unstructured.Unstructured,
	unread string) {
	of := schema.GroupResource{Group: status.Text(m, "apiGroup"), Resource: status.Text(m, "resource")}
	if _, served := e.Reader.Lookup(of); !served {
		return nil, ", whose type is not served"
	}
	o, err := e.Reader.GetObject(ctx, of, namespace, status.Text(m, "name"))
	if err != nil {
		return nil, fmt.Sprintf(", which cannot be read: %v", err)
	}
	return o, ""
}

// reservedFor is for a pod, or what stands for pods, that has a ResourceClaim, or what keeps it if
// it is being deleted.
func (e *Examiner) reservedFor(ctx context.Context, ref graph.Ref, user *unstructured.Unstructured) []core.Finding {
	if behindIt := e.BehindUser(ctx, user); len(behindIt) > 0 {
		return behindIt
	}
	says := fmt.Sprintf("%s %s has it reserved", user.GetKind(), user.GetName())
	if user.GetKind() == "Pod" {
		says = Usage(user)
	}
	return core.Found(ref, core.Finding{
		Code: core.InUse, About: new(e.Ref(user)), Finalizer: ReservedFinalizer,
		Evidence: core.Observed(says),
		Remedy:   fmt.Sprintf("Delete %s %s: then the claim is released.", user.GetKind(), user.GetName()),
		Commands: []core.Step{
			core.Command("kubectl", "gc", "delete", "OBJECT", "--dry-run").
				Safely("shows what is deleted with it, and whether it comes back"),
			core.Command("kubectl", "delete", "OBJECT").Doing("ends what the claim is reserved for").Disturbing(),
		},
	})
}
