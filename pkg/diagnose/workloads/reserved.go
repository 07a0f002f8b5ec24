package workloads

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
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
			unknown = true
			over = append(over, core.ObservedAt(core.From(o, "status.reservedFor"),
				fmt.Sprintf("it is reserved for %s %s", status.Text(m, "resource"), name))...)
			continue
		}
		pod, err := e.Reader.GetObject(ctx, cluster.Pods, o.GetNamespace(), name)
		switch {
		case err != nil:
			unknown = true
			over = append(over, core.ObservedAt(core.From(o, "status.reservedFor"),
				fmt.Sprintf("it is reserved for Pod %s, which cannot be read: %v", name, err))...)
		case pod == nil || uid != "" && string(pod.GetUID()) != uid:
			over = append(over, core.ObservedAt(core.From(o, "status.reservedFor"),
				fmt.Sprintf("it is reserved for Pod %s, which no longer exists", name))...)
		case Ended(pod):
			over = append(over, core.ObservedAt(core.From(o, "status.reservedFor"),
				fmt.Sprintf("it is reserved for Pod %s, which has ended", name))...)
		default:
			own = append(own, e.reservedFor(ctx, e.Graph.Ref(id), pod)...)
		}
	}
	switch {
	case len(own) > 0:
		return own
	case unknown || len(list) == 0:
		return core.WithEvidence(by, over...)
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

// reservedFor is for a pod that has a ResourceClaim, or what keeps the pod if it is being deleted.
func (e *Examiner) reservedFor(ctx context.Context, ref graph.Ref, pod *unstructured.Unstructured) []core.Finding {
	if behindIt := e.BehindUser(ctx, pod); len(behindIt) > 0 {
		return behindIt
	}
	return core.Found(ref, core.Finding{
		Code: core.InUse, About: new(e.Ref(pod)), Finalizer: ReservedFinalizer,
		Evidence: core.Observed(Usage(pod)),
		Remedy:   fmt.Sprintf("Delete Pod %s: then the claim is released.", pod.GetName()),
		Commands: []core.Step{
			core.Command("kubectl", "gc", "delete", "OBJECT", "--dry-run").
				Doing("shows what is deleted with the pod, and whether it comes back").Risking(finalizer.RiskNone),
			core.Command("kubectl", "delete", "OBJECT").Doing("ends the pod that the claim is reserved for").Disturbing(),
		},
	})
}
