// Package workloads finds out what keeps pods, and what pods keep.
package workloads

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
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

// Pod returns what keeps a pod besides its finalizers: its grace period, and its node (API-018). A
// pod that was never scheduled, or with which the kubelet is done, waits for neither.
func (e *Examiner) Pod(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	o, err := e.pods.read(ctx, e, id)
	if err != nil {
		return core.Found(ref, core.Finding{
			Code: core.PodNotKilled, Evidence: core.Seen("the pod cannot be read: %v", err),
			Sentence: "the pod is still there, and could not be read, nor the node that it is on",
			Remedy:   "Run the command again as a user who may read it.",
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
	if left := -e.Past(id); left > 0 && !n.Gone {
		return core.Found(ref, ofMirror(o, terminating(n, o, max(1, int(left.Seconds())))))
	}
	switch left := -e.Past(id); {
	case n.Gone && left > 0:
		n.Evidence = append(n.Evidence, core.Seen(
			"its grace period is over in %s, and nobody is there to end the pod then", phrase.Ago(left))...)
		fallthrough
	case n.Gone:
		look := core.FixedCommand("kubectl", "get", "pods", "-A", "-o", "wide", "--field-selector=spec.nodeName="+name).
			Safely("shows which pods are still on the node")
		return core.Found(ref, e.onNode(n, o, core.Finding{Code: core.NodeGone, Commands: []core.Step{look},
			Sentence: "Node " + name + ", which the pod is bound to, does not exist"}))
	case n.NotReady && n.By == "":
		return core.Found(ref, e.onNode(n, o, core.Finding{
			Code:     core.NodeNotReady,
			Sentence: "Node " + name + " is not ready, so that its kubelet does not remove the pod",
			Commands: []core.Step{core.Describe().Safely("shows why the node is not ready"),
				core.FixedCommand("kubectl", "taint", "node", name, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute").
					Doing(doesTaint).Risking(finalizer.DataLoss)},
		}))
	}
	f := core.Finding{
		Code: core.PodNotKilled, Evidence: append(core.Seen("its grace period ended %s ago", phrase.Ago(e.Past(id))),
			n.Evidence...),
		Commands: []core.Step{core.Describe(), force(o)}, Args: []string{"{then}", forceWarning(o)},
	}
	if by := e.killing(ctx, o); by != "" {
		f.Sentence = "the grace period is over, the node is ready, and its kubelet says: " + by
	}
	if hook := hooked(o); hook != "" && f.Sentence == "" {
		f.Sentence = "the grace period is over, the node is ready, and " + hook
		f.Remedy = "The kubelet can wait for a preStop hook beyond the grace period: look whether its process still runs in the " +
			"container, and end that. If none runs, check the log of the kubelet." + forceWarning(o)
	}
	if n.Unread {
		f.Sentence = "the grace period is over, the pod is still there, and its node could not be read"
		f.Remedy = fmt.Sprintf("Find out whether Node %s is there and ready: nobody else stops the pod. If it is, check the "+
			"log of its kubelet.", name) + forceWarning(o)
	}
	f.Evidence = append(f.Evidence, core.Observed(containers(o)...)...)
	f.Evidence = append(f.Evidence, e.Says(ctx, o)...)
	if n.By != "" {
		return core.Found(ref, e.onVirtual(ctx, n, o, f))
	}
	return core.Found(ref, ofMirror(o, e.withoutDrivers(ctx, o, f)))
}

// killing is the last that the kubelet has warned of since somebody deleted a pod: it tries until
// it can end it. It is empty if that is nothing.
func (e *Examiner) killing(ctx context.Context, pod *unstructured.Unstructured) string {
	asked := pod.GetDeletionTimestamp().Add(-time.Duration(*pod.GetDeletionGracePeriodSeconds()) * time.Second)
	for _, w := range e.WarnedSince(ctx, pod, asked) {
		if w.Recorder() == "kubelet" {
			return core.Brief(w.Message)
		}
	}
	return ""
}

// terminating is for a pod whose grace period is not over.
func terminating(n core.Node, pod *unstructured.Unstructured, seconds int) core.Finding {
	f := core.Finding{
		Code: core.PodTerminating, Evidence: core.Seen("its grace period is over in %s", phrase.Count(seconds, "second")),
		Commands: []core.Step{
			core.Command("kubectl", "wait", "OBJECT", "--for=delete",
				fmt.Sprintf("--timeout=%ds", seconds+30)).Doing("waits until it is deleted"),
			core.Command("kubectl", "delete", "OBJECT", "--grace-period=1").Doing("has its containers killed after 1 s"),
		},
	}
	if ended(pod) {
		f.Evidence = append(f.Evidence,
			core.ObservedAt(cluster.Place(pod, "status.containerStatuses"), "all its containers have ended")...)
		f.Remedy = "Wait. Its containers have ended, so that a second DELETE with a shorter grace period costs nothing."
	}
	if n.NotReady {
		f.Evidence, f.Commands = append(f.Evidence, n.Evidence...), f.Commands[:1]
		f.Remedy = "Wait, and run the command again: if the node is not ready then, nobody stops the pod."
	}
	return f
}

// onNode completes the finding about a pod whose node does not work. The cause lies in the node,
// and so is one for all its pods.
func (e *Examiner) onNode(n core.Node, pod *unstructured.Unstructured, f core.Finding) core.Finding {
	f.About, f.Evidence, f.Args = &n.Ref, n.Evidence, []string{"{then}", forceWarning(pod)}
	f.Commands = append(f.Commands, core.At(e.Ref(pod), force(pod)))
	return f
}

// doesTaint is what the taint of a machine that is off brings about (KEP-2268).
const doesTaint = "has the node's pods removed and their volumes detached: only if the machine is certainly off"

// force is the command that removes a pod without waiting for its node.
func force(pod *unstructured.Unstructured) core.Step {
	s := core.Command("kubectl", "delete", "OBJECT", "--force",
		"--grace-period=0").Doing("removes the pod from the API; containers that still run keep running").Disturbing()
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
		s += fmt.Sprintf(
			" StatefulSet %s then starts another pod of the same name, and if the first still runs, both write to the same data.", name)
	}
	return s
}

// ended reports whether all containers of a pod are known to have ended.
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
				all = append(all, runs(status.Text(m, "name")))
			case state["waiting"] != nil:
				reason, _, _ := unstructured.NestedString(state, "waiting", "reason")
				all = append(all, fmt.Sprintf("container %s is waiting: %s", status.Text(m, "name"), reason))
			}
		}
	}
	return all
}

// hooked says which container of a pod runs and has a preStop hook; empty if none does. The kubelet
// should wait for a hook until the grace period ends, and has been seen to wait longer
// (https://github.com/kubernetes/kubernetes/issues/127339).
func hooked(pod *unstructured.Unstructured) string {
	list, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
	for _, item := range list {
		m, _ := item.(map[string]any)
		hook, _, _ := unstructured.NestedMap(m, "lifecycle", "preStop")
		says := runs(status.Text(m, "name"))
		if len(hook) == 0 || !slices.Contains(containers(pod), says) {
			continue
		}
		says += " and has a preStop hook"
		if command, _, _ := unstructured.NestedStringSlice(hook, "exec", "command"); len(command) > 0 {
			says += ": " + core.Brief(strings.Join(command, " "))
		}
		return says
	}
	return ""
}

// runs says that a container does.
func runs(name string) string { return fmt.Sprintf("container %s is running", name) }

// Usage says which pod uses a PVC, and where.
func Usage(pod *unstructured.Unstructured) string {
	node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	s := fmt.Sprintf("Pod %s, which is %s on Node %s, uses it", pod.GetName(), phase, node)
	for _, waits := range containers(pod) {
		if strings.HasSuffix(waits, ": CrashLoopBackOff") {
			s += "; its " + waits
		}
	}
	for _, owner := range pod.GetOwnerReferences() {
		if owner.Controller != nil && *owner.Controller {
			s += fmt.Sprintf("; %s %s controls the pod", owner.Kind, owner.Name)
		}
	}
	return s
}

// JobFinalizer keeps a pod until its Job has counted it.
const JobFinalizer = "batch.kubernetes.io/job-tracking"

// Counted returns what keeps a pod that a Job is to count. If the Job is gone nothing is left to
// count, and nothing is lost.
func (e *Examiner) Counted(ctx context.Context, id graph.ID) []core.Finding {
	findings := e.ByActor(ctx, id, JobFinalizer)
	for edge := range e.Graph.Owners(id) {
		if !edge.Controller || edge.Kind != "Job" {
			continue
		}
		switch {
		case e.Graph.Observed(edge.Owner):
			return core.WithEvidence(findings, core.Seen("Job %s, which counts it, still exists", edge.Name)...)
		case e.Graph.State(edge.Owner) != graph.Absent:
			return findings
		}
		findings = core.WithEvidence(findings, core.Seen("Job %s, which was to count it, no longer exists", edge.Name)...)
		for i := range findings {
			if findings[i].Finalizer != JobFinalizer {
				continue
			}
			findings[i].Remedy = findings[i].Usual() + " The Job is gone: nothing is lost by removing it."
			if findings[i].Code == core.FinalizerActorAlive {
				findings[i].Remedy = "The job controller takes it off pods whose Job is gone. If it stays, any change of the pod, " +
					"as an annotation, has it look again. The Job is gone: nothing is lost by removing it."
			}
		}
		return findings
	}
	return findings
}

// podReader reads the pods that are being deleted: one by one where they are few, and by a list of
// their namespace where a node has left many behind.
type podReader struct {
	deleting map[string]int                                   // how many, by namespace
	listed   map[string]map[string]*unstructured.Unstructured // by namespace and uid
}

// read reads a pod live, nil if it is gone.
func (r *podReader) read(ctx context.Context, e *Examiner, id graph.ID) (*unstructured.Unstructured, error) {
	ref := e.Graph.Ref(id)
	if r.deleting == nil {
		r.deleting, r.listed = map[string]int{}, map[string]map[string]*unstructured.Unstructured{}
		for id := range e.Graph.IDs() {
			if o := e.Graph.Ref(id); o.Resource == cluster.Pods.Resource && o.Group() == "" &&
				e.Graph.DeletionTimestamp(id) != 0 {
				r.deleting[o.Namespace]++
			}
		}
	}
	if r.deleting[ref.Namespace] <= core.MaxByName || len(e.Graph.Finalizers(id)) > 0 {
		o, err := e.Object(ctx, id)
		if o != nil && string(o.GetUID()) != ref.UID {
			o = nil
		}
		return o, err
	}
	all, err := e.Reader.ListObjects(ctx, cluster.Pods, ref.Namespace, cluster.Selection{}) // which reads once
	if r.listed[ref.Namespace] == nil {
		byUID := make(map[string]*unstructured.Unstructured, len(all))
		for _, o := range all {
			byUID[string(o.GetUID())] = o
		}
		r.listed[ref.Namespace] = byUID
	}
	if o := r.listed[ref.Namespace][ref.UID]; o != nil { // whatever was not read
		return o, nil
	}
	return nil, err
}
