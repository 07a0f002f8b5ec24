package workloads

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// The types that say which drivers a kubelet knows, and which a pod needs.
var (
	csiNodes       = schema.GroupResource{Group: "storage.k8s.io", Resource: "csinodes"}
	resourceClaims = schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"}
	resourceSlices = schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceslices"}
)

// withoutDrivers completes the finding about a pod whose containers have ended and whose node lacks
// a driver that the kubelet has to call before it lets the pod go: it unmounts by the CSI driver
// and releases devices by the DRA driver, and takes one that is gone for one that comes back.
func (e *Examiner) withoutDrivers(ctx context.Context, pod *unstructured.Unstructured, f core.Finding) core.Finding {
	if running(pod) {
		return f
	}
	node := status.Nested(pod, "spec", "nodeName")
	csi, evidence := e.missingCSI(ctx, pod, node)
	dra, more := e.missingDRA(ctx, pod, node)
	missing := slices.Concat(csi, dra)
	if len(missing) == 0 {
		return e.unattached(ctx, pod, node, e.withoutClaims(ctx, pod, f))
	}
	f.Evidence = slices.Concat(f.Evidence, evidence, more)
	f.Sentence = fmt.Sprintf("the grace period is over, and %s is not registered on its node, without which its kubelet keeps the pod",
		"driver "+phrase.And(missing))
	f.Remedy = fmt.Sprintf("Have %s run on Node %s again: the kubelet calls it to unmount volumes and to release devices, "+
		"before it lets the pod go.", phrase.And(missing), node) + forceWarning(pod)
	look := core.FixedCommand("kubectl", "get", "pods", "-A", "-o", "wide", "--field-selector=spec.nodeName="+node).
		Safely("shows whether a pod of the driver runs on the node")
	f.Commands = slices.Insert(slices.Clone(f.Commands), min(1, len(f.Commands)), look)
	return f
}

// missingCSI returns the CSI drivers of a pod's volumes that the CSINode of its node does not have.
// Without a CSINode nothing is known.
func (e *Examiner) missingCSI(ctx context.Context, pod *unstructured.Unstructured,
	node string) (missing []string, evidence []v1alpha1.Observation) {
	o, err := e.Reader.GetObject(ctx, csiNodes, "", node)
	if err != nil || o == nil {
		return nil, nil
	}
	registered := map[string]bool{}
	for _, driver := range fields(o, "name", "spec", "drivers") {
		registered[driver] = true
	}
	volumes, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
	for _, item := range volumes {
		m, _ := item.(map[string]any)
		driver := e.driverOf(ctx, pod, m)
		if driver == "" || registered[driver] {
			continue
		}
		evidence = append(evidence, core.ObservedAt(cluster.Place(o, "spec.drivers"),
			fmt.Sprintf("CSINode %s does not have driver %s, which volume %s needs", node, driver, status.Text(m, "name")))...)
		if !slices.Contains(missing, driver) {
			missing = append(missing, driver)
		}
	}
	return missing, evidence
}

// driverOf returns the CSI driver of a volume of a pod, empty if it has none or that is not known.
func (e *Examiner) driverOf(ctx context.Context, pod *unstructured.Unstructured, volume map[string]any) string {
	if driver, _, _ := unstructured.NestedString(volume, "csi", "driver"); driver != "" {
		return driver
	}
	pv := e.volumeOf(ctx, pod, volume)
	if pv == nil {
		return ""
	}
	return status.Nested(pv, "spec", "csi", "driver")
}

// volumeOf returns the PersistentVolume of a volume of a pod, nil if it has none or that is not known.
func (e *Examiner) volumeOf(ctx context.Context, pod *unstructured.Unstructured,
	volume map[string]any) *unstructured.Unstructured {
	claim, _, _ := unstructured.NestedString(volume, "persistentVolumeClaim", "claimName")
	if volume["ephemeral"] != nil {
		claim = pod.GetName() + "-" + status.Text(volume, "name")
	}
	if claim == "" {
		return nil
	}
	pvc, err := e.Reader.GetObject(ctx, cluster.PVCs, pod.GetNamespace(), claim)
	if err != nil || pvc == nil {
		return nil
	}
	name := status.Nested(pvc, "spec", "volumeName")
	if name == "" {
		return nil
	}
	pv, err := e.Reader.GetObject(ctx, cluster.PersistentVolumes, "", name)
	if err != nil { // and the reader has noted the gap
		return nil
	}
	return pv
}

// missingDRA returns the drivers that have devices of a pod and no ResourceSlice for its node, nor
// one for devices that are at no node: the kubelet deletes those of a driver that is not registered
// any more (k8s.io/kubernetes/pkg/kubelet/cm/dra/plugin).
func (e *Examiner) missingDRA(ctx context.Context, pod *unstructured.Unstructured,
	node string) (missing []string, evidence []v1alpha1.Observation) {
	for _, name := range claimsOf(pod) {
		claim, err := e.Reader.GetObject(ctx, resourceClaims, pod.GetNamespace(), name)
		if err != nil || claim == nil {
			continue
		}
		for _, driver := range fields(claim, "driver", "status", "allocation", "devices", "results") {
			if slices.Contains(missing, driver) || e.published(ctx, driver, node) {
				continue
			}
			missing = append(missing, driver)
			evidence = append(evidence, core.ObservedAt(cluster.Place(claim, "status.allocation"), fmt.Sprintf(
				"ResourceClaim %s of the pod has a device of driver %s, which has no ResourceSlice for Node %s", name, driver, node))...)
		}
	}
	return missing, evidence
}

// published reports whether a driver has devices for a node, also if that cannot be read.
func (e *Examiner) published(ctx context.Context, driver, node string) bool {
	all, err := e.Reader.ListObjects(ctx, resourceSlices, "", cluster.Selection{})
	return err != nil || slices.ContainsFunc(all, func(o *unstructured.Unstructured) bool {
		at := status.Nested(o, "spec", "nodeName")
		return status.Nested(o, "spec", "driver") == driver && (at == node || at == "")
	})
}

// claimsOf are the names of the ResourceClaims of a pod.
func claimsOf(pod *unstructured.Unstructured) []string {
	return slices.DeleteFunc(append(fields(pod, "resourceClaimName", "spec", "resourceClaims"),
		fields(pod, "resourceClaimName", "status", "resourceClaimStatuses")...), func(name string) bool { return name == "" })
}

// fields are the texts of a field in the items of a list.
func fields(o *unstructured.Unstructured, field string, list ...string) []string {
	items, _, _ := unstructured.NestedSlice(o.Object, list...)
	texts := make([]string, 0, len(items))
	for _, item := range items {
		m, _ := item.(map[string]any)
		texts = append(texts, status.Text(m, field))
	}
	return texts
}

// running reports whether a container of a pod is known to run: the kubelet ends it first.
func running(pod *unstructured.Unstructured) bool {
	for _, list := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		items, _, _ := unstructured.NestedSlice(pod.Object, "status", list)
		for _, item := range items {
			m, _ := item.(map[string]any)
			if _, is, _ := unstructured.NestedMap(m, "state", "running"); is {
				return true
			}
		}
	}
	return false
}
