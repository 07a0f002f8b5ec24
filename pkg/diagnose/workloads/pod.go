// Package workloads finds out what keeps pods, and what pods keep.
package workloads

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Examiner says what keeps pods, and what pods keep.
type Examiner struct {
	*core.Examination
	pods podReader
}

// New returns an examiner that has read no pod yet.
func New(c *core.Examination) *Examiner { return &Examiner{Examination: c} }

// Pod returns what keeps a pod besides its finalizers: its grace period, and its node (API-018). A pod that was never scheduled, or with which the
// kubelet is done, waits for neither.
func (e *Examiner) Pod(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	o, err := e.pods.read(ctx, e, id)
	if err != nil {
		return core.Found(ref, core.Finding{
			Code: core.PodNotKilled, Evidence: core.Observed(fmt.Sprintf("the pod cannot be read: %v", err)), Remedy: "Run the command again as a user who may read it.",
		})
	}
	if o == nil {
		return nil
	}
	name, _, _ := unstructured.NestedString(o.Object, "spec", "nodeName")
	if grace := o.GetDeletionGracePeriodSeconds(); name == "" || grace == nil || *grace == 0 {
		return nil
	}
	n := e.Node(ctx, name)
	if left := -e.Past(id); left > 0 {
		return core.Found(ref, terminating(n, o, max(1, int(left.Seconds()))))
	}
	switch {
	case n.Gone:
		return core.Found(ref, e.onNode(n, o, core.Finding{
			Code:   core.NodeGone,
			Remedy: "kube-controller-manager removes the pods of a node that does not exist after 40 seconds, if it works." + forceWarning(o),
		}))
	case n.NotReady:
		return core.Found(ref, e.onNode(n, o, core.Finding{
			Code:     core.NodeNotReady,
			Remedy:   "Recover the node. If the machine is certainly off, the taint has kube-controller-manager remove its pods and detach their volumes." + forceWarning(o),
			Commands: []core.Step{core.FixedCommand("kubectl", "taint", "node", name, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute").Doing(doesTaint)},
		}))
	}
	f := core.Finding{
		Code: core.PodNotKilled, Evidence: append(core.Observed(fmt.Sprintf("its grace period ended %s ago", phrase.Ago(e.Past(id)))), n.Evidence...),
		Remedy:   "Check the log of the kubelet, and repair what it waits for on the node: the container runtime, the network plugin or a volume." + forceWarning(o),
		Commands: []core.Step{core.Describe(), force(o)},
	}
	f.Evidence = append(f.Evidence, core.Observed(containers(o)...)...)
	f.Evidence = append(f.Evidence, e.Says(ctx, o)...)
	return core.Found(ref, f)
}

// terminating is for a pod whose grace period is not over.
func terminating(n node, pod *unstructured.Unstructured, seconds int) core.Finding {
	f := core.Finding{
		Code: core.PodTerminating, Evidence: core.Observed(fmt.Sprintf("its grace period is over in %s", phrase.Count(seconds, "second"))),
		Remedy: "Wait. A second DELETE can make the grace period shorter.",
		Commands: []core.Step{
			core.Command("kubectl", "wait", "OBJECT", "--for=delete", fmt.Sprintf("--timeout=%ds", seconds+30)).Doing("waits until it is deleted"),
			core.Command("kubectl", "delete", "OBJECT", "--grace-period=1").Doing("has its containers killed after 1 s"),
		},
	}
	if ended(pod) {
		f.Evidence = append(f.Evidence, core.ObservedAt(core.From(pod, "status.containerStatuses"), "all its containers have ended")...)
		f.Remedy = "Wait. Its containers have ended, so that a second DELETE with a shorter grace period costs nothing."
	}
	if n.Gone || n.NotReady {
		f.Evidence = append(f.Evidence, n.Evidence...)
		f.Remedy = "Wait, and run the command again: if the node is not ready then, nobody stops the pod."
	}
	return f
}

// onNode completes the finding about a pod whose node does not work. The cause lies in the node, and so is one for all its pods.
func (e *Examiner) onNode(n node, pod *unstructured.Unstructured, f core.Finding) core.Finding {
	f.About, f.Evidence = &n.ref, n.Evidence
	f.Commands = append(f.Commands, core.At(e.Ref(pod), force(pod)))
	return f
}

// doesTaint is what the taint of a machine that is off brings about (KEP-2268).
const doesTaint = "has the node's pods removed and their volumes detached: only if the machine is certainly off"

// force is the command that removes a pod without waiting for its node.
func force(pod *unstructured.Unstructured) core.Step {
	s := core.Command("kubectl", "delete", "OBJECT", "--force", "--grace-period=0").Doing("removes the pod from the API; containers that still run keep running")
	if ofStatefulSet(pod) != "" {
		return s.Risking(finalizer.DataLoss)
	}
	return s
}

// ofStatefulSet names the StatefulSet that owns a pod, empty if none does.
func ofStatefulSet(pod *unstructured.Unstructured) string {
	for _, owner := range pod.GetOwnerReferences() {
		if owner.Kind == "StatefulSet" {
			return owner.Name
		}
	}
	return ""
}

// forceWarning says what it costs to remove a pod that may still run.
func forceWarning(pod *unstructured.Unstructured) string {
	s := " Forced deletion comes last: it does not stop containers that still run."
	if name := ofStatefulSet(pod); name != "" {
		s += fmt.Sprintf(" StatefulSet %s then starts another pod of the same name, and if the first still runs, both write to the same data.", name)
	}
	return s
}

// ended says whether all containers of a pod are known to have ended.
func ended(pod *unstructured.Unstructured) bool {
	known := 0
	for _, field := range []string{"containerStatuses", "ephemeralContainerStatuses"} {
		list, _, _ := unstructured.NestedSlice(pod.Object, "status", field)
		for _, item := range list {
			m, _ := item.(map[string]any)
			if _, over, _ := unstructured.NestedMap(m, "state", "terminated"); !over {
				return false
			}
			known++
		}
	}
	declared, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
	return known > 0 && known >= len(declared)
}

// containers says which containers of a pod run, or are not known to have ended.
func containers(pod *unstructured.Unstructured) []string {
	var all []string
	for _, field := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		list, _, _ := unstructured.NestedSlice(pod.Object, "status", field)
		for _, item := range list {
			m, _ := item.(map[string]any)
			state, _ := m["state"].(map[string]any)
			switch {
			case state["running"] != nil:
				all = append(all, fmt.Sprintf("container %s is running", status.Text(m, "name")))
			case state["waiting"] != nil:
				reason, _, _ := unstructured.NestedString(state, "waiting", "reason")
				all = append(all, fmt.Sprintf("container %s is waiting: %s", status.Text(m, "name"), reason))
			}
		}
	}
	return all
}

// Usage says which pod uses a PVC, and where.
func Usage(pod *unstructured.Unstructured) string {
	node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	s := fmt.Sprintf("Pod %s, which is %s on Node %s, uses it", pod.GetName(), phase, node)
	for _, owner := range pod.GetOwnerReferences() {
		if owner.Controller != nil && *owner.Controller {
			s += fmt.Sprintf("; %s %s controls the pod", owner.Kind, owner.Name)
		}
	}
	return s
}
