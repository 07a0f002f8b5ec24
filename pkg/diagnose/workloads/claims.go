package workloads

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// claimOfPod is the annotation by which a ResourceClaim that was made of a template says for which
// of the claims of its pod it is
// (https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/controller/resourceclaim/controller.go).
const claimOfPod = "resource.kubernetes.io/pod-claim-name"

// withoutClaims completes the finding about a pod that is not running any more, and whose status
// has lost the name of a ResourceClaim that was made of a template: kubelets before that of
// https://github.com/kubernetes/kubernetes/pull/139845 do not know then what to release, and keep
// the pod. Whoever writes the whole status with a library that does not know the field takes it
// out, as Multus did.
func (e *Examiner) withoutClaims(ctx context.Context, pod *unstructured.Unstructured, f core.Finding) core.Finding {
	told := fields(pod, "name", "status", "resourceClaimStatuses")
	made, lost, known := []map[string]string{}, []string(nil), true
	items, _, _ := unstructured.NestedSlice(pod.Object, "spec", "resourceClaims")
	for _, item := range items {
		m, _ := item.(map[string]any)
		name := status.Text(m, "name")
		if status.Text(m, "resourceClaimTemplateName") == "" || slices.Contains(told, name) {
			continue
		}
		lost = append(lost, name)
		claim := e.madeFor(ctx, pod, name)
		if known = known && claim != ""; claim != "" {
			made = append(made, map[string]string{"name": name, "resourceClaimName": claim})
		}
	}
	if len(made) == 0 {
		return f
	}
	f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(pod, "status.resourceClaimStatuses"), fmt.Sprintf(
		"its status names no ResourceClaim for %s, and %s was made for that", phrase.And(lost), made[0]["resourceClaimName"]))...)
	f.Sentence = "the grace period is over, and the status of the pod does not name the ResourceClaim whose devices its kubelet has to release"
	f.Remedy = "Some client has taken that out of the status, as those do that write all of it and do not know the field: Multus did. Put it " +
		"back, or have a later release of the kubelet run on the node: it calls the driver then, and lets the pod go. The devices stay " +
		"prepared if the pod is deleted by force." + forceWarning(pod)
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"resourceClaimStatuses": made}})
	if err != nil || !known || len(told) > 0 { // a patch would take out what is there
		return f
	}
	f.Commands = slices.Insert(slices.Clone(f.Commands), min(1, len(f.Commands)),
		core.Command("kubectl", "patch", "OBJECT", "--subresource=status", "--type=merge", "-p", string(patch)).
			Safely("puts the name of the ResourceClaim back"))
	return f
}

// madeFor is the name of the ResourceClaim that was made of a template for a claim of a pod; empty
// if none is seen.
func (e *Examiner) madeFor(ctx context.Context, pod *unstructured.Unstructured, name string) string {
	all, _ := e.Reader.ListObjects(ctx, resourceClaims, pod.GetNamespace(), cluster.Selection{}) // or a gap is noted
	for _, claim := range all {
		if metav1.IsControlledBy(claim, pod) && claim.GetAnnotations()[claimOfPod] == name {
			return claim.GetName()
		}
	}
	return ""
}
