package actor

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Fault is why a workload has no pod that is ready.
type Fault struct {
	// Says is a clause that says what was seen, and From where.
	Says, From string
	// Repair is what to do, as a clause.
	Repair string
	// Pod is the pod that shows it, nil if none was made, and Container the container, empty if it
	// is not one. Logs says that its log says more: that of the container that ended if Previous.
	Pod            *unstructured.Unstructured
	Container      string
	Logs, Previous bool
	// Webhook is the name of a webhook that keeps pods from being made, empty if it is not that.
	Webhook string
	// Starting says that it may come up yet: nothing is known to be wrong.
	Starting bool
}

// jobController manages a Job that names no other controller
// (https://kubernetes.io/docs/concepts/workloads/controllers/job/#delegation-of-managing-a-job-object-to-external-controller).
const jobController = "kubernetes.io/job-controller"

// Faults finds out why a workload that should have pods has none that is ready: from its pods, and
// where it has none, from what it says of making them. It returns none for one that is scaled to 0 or
// a Job that another controller manages, which may have its pods elsewhere, and what could not be
// listed.
func (f *Finder) Faults(ctx context.Context, w *unstructured.Unstructured) (faults []Fault, unread []string) {
	if number(w, 1, "spec", "replicas") == 0 && w.GetKind() != "DaemonSet" ||
		w.GetKind() == "Job" && status.FieldOr(w, "spec.managedBy", jobController) != jobController {
		return nil, nil
	}
	if idle(w) && observed(w) {
		says := cluster.Located(w) + " is meant for no node"
		return []Fault{{Says: says, From: cluster.Place(w, "status"), Repair: says + ": change its nodeSelector, its affinity or " +
			"its tolerations, or what they leave out of the nodes"}}, nil
	}
	pods, err := f.podsSelectedBy(ctx, w)
	pods = slices.DeleteFunc(slices.Clone(pods),
		func(pod *unstructured.Unstructured) bool { return pod.GetDeletionTimestamp() != nil })
	if err != nil {
		unread = GapClauses(unlisted(cluster.Pods, w.GetNamespace(), err))
	}
	for _, pod := range pods {
		if fault, ok := f.PodFault(pod); ok && !slices.ContainsFunc(faults, fault.same) {
			faults = append(faults, fault)
		}
	}
	if len(faults) == 0 {
		more, not := f.unmade(ctx, w)
		faults, unread = append(faults, more...), append(unread, not...)
	}
	if name := cluster.Located(w); len(faults)+len(pods)+len(unread) == 0 {
		if w.GetDeletionTimestamp() != nil {
			return []Fault{{Says: name + " is being deleted, and has no pods", From: name,
				Repair: "install it again: " + name + " is being deleted"}}, nil
		}
		faults = append(faults, Fault{Says: name + " has no pods, and does not say why", From: name,
			Repair:   "find out why kube-controller-manager makes no pods of " + name,
			Starting: f.now().Sub(w.GetCreationTimestamp().Time) < minStale})
	}
	return faults, unread
}

// same reports whether another pod shows the same.
func (a Fault) same(b Fault) bool { return a.Repair == b.Repair && a.Container == b.Container }

// PodFault says why a pod is not ready; false if it is, or if it does not say.
func (f *Finder) PodFault(pod *unstructured.Unstructured) (Fault, bool) {
	name := pod.GetNamespace() + "/" + pod.GetName()
	fault := Fault{From: "Pod " + name, Pod: pod}
	if c, ok := status.Find(pod, "PodScheduled"); ok && c.Status == "False" {
		fault.Says = fmt.Sprintf("Pod %s is not scheduled: %s", name, c.Message)
		fault.Repair = "make room for its pod on a node, or change what it asks of one"
		return fault, true
	}
	reason, message := status.Nested(pod, "status", "reason"), status.Nested(pod, "status", "message")
	failed := status.Nested(pod, "status", "phase") == "Failed"
	if failed && reason+message != "" {
		fault.Says = fmt.Sprintf("Pod %s has failed: %s", name, strings.TrimSpace(reason+" "+message))
		fault.Repair = "find out why its pod failed"
		return fault, true
	}
	for _, field := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, item := range listOf(pod.Object, "status", field) {
			m, _ := item.(map[string]any)
			if f := fault.ofContainer(m, failed || field == "initContainerStatuses"); f.Says != "" {
				return f, true
			}
		}
	}
	if failed {
		fault.Says, fault.Repair = fmt.Sprintf("Pod %s has failed", name), "find out why its pod failed"
		return fault, true
	}
	c, ok := status.Find(pod, "Ready")
	if !ok || c.Status == "True" {
		return fault, false
	}
	fault.Says, fault.Repair, fault.Logs = fmt.Sprintf("Pod %s is not ready: %s", name, c.Message),
		"find out why its readiness probe fails", true
	if age := f.now().Sub(c.Since); !c.Since.IsZero() {
		fault.Says = fmt.Sprintf("Pod %s has not been ready for %s: %s", name, phrase.Ago(age), c.Message)
		fault.Starting = age < patience
	}
	return fault, true
}

// ofContainer says what is wrong with a container of a pod, which may end if all is well; without Says
// nothing is.
func (f Fault) ofContainer(m map[string]any, mayEnd bool) Fault {
	name := status.Text(m, "name")
	where := fmt.Sprintf("container %s of %s", name, f.From)
	state, _ := m["state"].(map[string]any)
	last, _, _ := unstructured.NestedMap(m, "lastState", "terminated")
	now, _, _ := unstructured.NestedMap(state, "terminated")
	waiting, _, _ := unstructured.NestedMap(state, "waiting")
	reason, message := status.Text(waiting, "reason"), status.Text(waiting, "message")
	f.Container = name
	switch {
	case strings.Contains(reason, "Image"): // ErrImagePull, ImagePullBackOff, InvalidImageName, ErrImageNeverPull
		f.Says = clause(fmt.Sprintf("%s cannot get its image %s: %s", where, status.Text(m, "image"), reason), message)
		f.Repair = fmt.Sprintf("make image %s available to its node, or correct its name or its pull secret",
			status.Text(m, "image"))
	case reason == "CreateContainerConfigError" || reason == "CreateContainerError" || reason == "RunContainerError":
		f.Says = clause(fmt.Sprintf("%s cannot be started: %s", where, reason), message)
		f.Repair = "repair what the message names: a Secret, a ConfigMap or a key of one that is gone, as a rule"
	case reason == "CrashLoopBackOff" || len(last) > 0 && m["ready"] == false:
		times, _ := m["restartCount"].(int64)
		f.Says = fmt.Sprintf("%s has ended %s, last: %s", where, phrase.Count(int(times), "time"), termination(last))
		f.Repair, f.Logs, f.Previous = crashRepair(last), true, true
	case len(now) > 0 && (!mayEnd || now["exitCode"] != int64(0)):
		f.Says = fmt.Sprintf("%s has ended: %s", where, termination(now))
		f.Repair, f.Logs = crashRepair(now), true
	}
	return f
}

func clause(says, message string) string {
	if message == "" {
		return says
	}
	return says + ": " + message
}

// termination says how a container ended.
func termination(m map[string]any) string {
	says := fmt.Sprintf("%s, exit code %v", status.Text(m, "reason"), m["exitCode"])
	return clause(strings.TrimPrefix(says, ", "), status.Text(m, "message"))
}

// crashRepair is what to do about a container that does not keep running.
func crashRepair(m map[string]any) string {
	if status.Text(m, "reason") == "OOMKilled" {
		return "raise its memory limit: it is killed for lack of memory"
	}
	return "find out from its log why it ends"
}

// unmade says why no pods are made of a workload: a Deployment and its ReplicaSets have the
// condition ReplicaFailure, others have events only.
func (f *Finder) unmade(ctx context.Context, w *unstructured.Unstructured) (faults []Fault, unread []string) {
	sources := []*unstructured.Unstructured{w}
	if w.GetKind() == "Deployment" {
		sets, err := f.reader.ListObjects(ctx, cluster.ReplicaSets, w.GetNamespace(), cluster.Selection{})
		if err != nil {
			unread = append(unread, GapClauses(unlisted(cluster.ReplicaSets, w.GetNamespace(), err))...)
		}
		for _, set := range sets {
			for _, owner := range set.GetOwnerReferences() {
				if owner.UID == w.GetUID() {
					sources = append(sources, set)
				}
			}
		}
	}
	for _, o := range sources {
		if c, ok := status.Find(o, "ReplicaFailure"); ok && c.Status == "True" && c.Message != "" {
			return []Fault{refused(o, w, c.Message)}, nil
		}
	}
	for _, o := range sources {
		events, _ := f.reader.ListObjects(ctx, cluster.Events, o.GetNamespace(),
			cluster.Selection{Fields: "type=Warning,reason=FailedCreate,involvedObject.uid=" + string(o.GetUID())})
		if len(events) > 0 {
			return []Fault{refused(o, w, status.Nested(events[len(events)-1], "message"))}, nil
		}
	}
	return nil, unread
}

var (
	failedHook  = regexp.MustCompile(`failed calling webhook "([^"]+)"`)
	hookService = regexp.MustCompile(`https://([^./"]+)\.([^./"]+)\.svc[:/]`)
)

// refused says why the server refuses to make the pods of a workload.
func refused(o, w *unstructured.Unstructured, message string) Fault {
	of := cluster.Located(o)
	f := Fault{Says: fmt.Sprintf("%s cannot make pods: %s", of, message), From: of + " status.conditions",
		Repair: "repair what the message names"}
	hook := failedHook.FindStringSubmatch(message)
	service := hookService.FindStringSubmatch(message)
	switch {
	case strings.Contains(message, "exceeded quota"):
		f.Repair = fmt.Sprintf("raise the ResourceQuota of namespace %s, or free some of it", w.GetNamespace())
	case hook != nil && service != nil && service[2] == w.GetNamespace():
		f.Webhook = hook[1]
		f.Repair = fmt.Sprintf(
			"webhook %s, which it may serve itself in the same namespace, keeps its own pods from being made: exempt namespace %s from it, or delete its configuration, which it makes again as a rule", hook[1], w.GetNamespace())
	case hook != nil:
		f.Webhook = hook[1]
		f.Repair = fmt.Sprintf("have webhook %s let its pods through: repair what answers it, or exempt namespace %s from it",
			hook[1], w.GetNamespace())
	case strings.Contains(message, "serviceaccount") && strings.Contains(message, "not found"):
		f.Repair = "make its ServiceAccount again: " + Account(w).Namespace + "/" + Account(w).Name + " is gone"
	case strings.Contains(message, "violates PodSecurity"):
		f.Repair = fmt.Sprintf(
			"change what its pods ask for, or the label pod-security.kubernetes.io/enforce of namespace %s", w.GetNamespace())
	}
	return f
}
