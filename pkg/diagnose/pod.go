package diagnose

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// workloads says what keeps pods, and what pods keep.
type workloads struct {
	*core
	pods podReader
}

// pod returns what keeps a pod besides its finalizers: its grace period, and its node (API-018). A pod that was never scheduled, or with which the
// kubelet is done, waits for neither.
func (e *workloads) pod(ctx context.Context, id graph.ID) []finding {
	ref := e.Graph.Ref(id)
	o, err := e.pods.read(ctx, e, id)
	if err != nil {
		return found(ref, finding{
			code: PodNotKilled, evidence: observed(fmt.Sprintf("the pod cannot be read: %v", err)), remedy: "Run the command again as a user who may read it.",
		})
	}
	if o == nil {
		return nil
	}
	name, _, _ := unstructured.NestedString(o.Object, "spec", "nodeName")
	if grace := o.GetDeletionGracePeriodSeconds(); name == "" || grace == nil || *grace == 0 {
		return nil
	}
	n := e.node(ctx, name)
	if left := -e.past(id); left > 0 {
		return found(ref, terminating(n, o, max(1, int(left.Seconds()))))
	}
	switch {
	case n.gone:
		return found(ref, e.onNode(n, o, finding{
			code:   NodeGone,
			remedy: "kube-controller-manager removes the pods of a node that does not exist after 40 seconds, if it works." + forceWarning(o),
		}))
	case n.notReady:
		return found(ref, e.onNode(n, o, finding{
			code:     NodeNotReady,
			remedy:   "Recover the node. If the machine is certainly off, the taint has kube-controller-manager remove its pods and detach their volumes." + forceWarning(o),
			commands: []step{fixedCommand("kubectl", "taint", "node", name, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute").doing(doesTaint)},
		}))
	}
	f := finding{
		code: PodNotKilled, evidence: append(observed(fmt.Sprintf("its grace period ended %s ago", phrase.Ago(e.past(id)))), n.evidence...),
		remedy:   "Check the log of the kubelet, and repair what it waits for on the node: the container runtime, the network plugin or a volume." + forceWarning(o),
		commands: []step{describe(), force(o)},
	}
	f.evidence = append(f.evidence, observed(containers(o)...)...)
	f.evidence = append(f.evidence, e.says(ctx, o)...)
	return found(ref, f)
}

// terminating is for a pod whose grace period is not over.
func terminating(n node, pod *unstructured.Unstructured, seconds int) finding {
	f := finding{
		code: PodTerminating, evidence: observed(fmt.Sprintf("its grace period is over in %s", phrase.Count(seconds, "second"))),
		remedy: "Wait. A second DELETE can make the grace period shorter.",
		commands: []step{
			command("kubectl", "wait", "OBJECT", "--for=delete", fmt.Sprintf("--timeout=%ds", seconds+30)).doing("waits until it is deleted"),
			command("kubectl", "delete", "OBJECT", "--grace-period=1").doing("has its containers killed after 1 s"),
		},
	}
	if ended(pod) {
		f.evidence = append(f.evidence, observedAt(from(pod, "status.containerStatuses"), "all its containers have ended")...)
		f.remedy = "Wait. Its containers have ended, so that a second DELETE with a shorter grace period costs nothing."
	}
	if n.gone || n.notReady {
		f.evidence = append(f.evidence, n.evidence...)
		f.remedy = "Wait, and run the command again: if the node is not ready then, nobody stops the pod."
	}
	return f
}

// onNode completes the finding about a pod whose node does not work. The cause lies in the node, and so is one for all its pods.
func (e *workloads) onNode(n node, pod *unstructured.Unstructured, f finding) finding {
	f.about, f.evidence = &n.ref, n.evidence
	f.commands = append(f.commands, at(e.ref(pod), force(pod)))
	return f
}

// doesTaint is what the taint of a machine that is off brings about (KEP-2268).
const doesTaint = "has the node's pods removed and their volumes detached: only if the machine is certainly off"

// force is the command that removes a pod without waiting for its node.
func force(pod *unstructured.Unstructured) step {
	s := command("kubectl", "delete", "OBJECT", "--force", "--grace-period=0").doing("removes the pod from the API; containers that still run keep running")
	if ofStatefulSet(pod) != "" {
		return s.risking(finalizer.DataLoss)
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

// usage says which pod uses a PVC, and where.
func usage(pod *unstructured.Unstructured) string {
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
