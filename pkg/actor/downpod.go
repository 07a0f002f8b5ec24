package actor

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// podFault says why a pod is not ready; false if it is, or if it does not say.
func (f *Finder) podFault(pod *unstructured.Unstructured) (Fault, bool) {
	name := pod.GetNamespace() + "/" + pod.GetName()
	fault := Fault{From: "Pod " + name, Pod: pod}
	if c, ok := status.Find(pod, "PodScheduled"); ok && c.Status == "False" {
		fault.Says = fmt.Sprintf("Pod %s is not scheduled: %s", name, c.Message)
		fault.Repair = "make room for its pod on a node, or change what it asks of one"
		return fault, true
	}
	if phase := status.Nested(pod, "status", "phase"); phase == "Failed" {
		fault.Says = strings.TrimSuffix(fmt.Sprintf("Pod %s has failed: %s %s", name, status.Nested(pod, "status", "reason"),
			status.Nested(pod, "status", "message")), ": ")
		fault.Repair = "find out why its pod failed"
		return fault, true
	}
	for _, field := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, item := range listOf(pod.Object, "status", field) {
			m, _ := item.(map[string]any)
			if f := fault.ofContainer(m, field == "initContainerStatuses"); f.Says != "" {
				return f, true
			}
		}
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

// ofContainer says what is wrong with a container of a pod; without Says nothing is.
func (f Fault) ofContainer(m map[string]any, initial bool) Fault {
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
		f.Says = fmt.Sprintf("%s has ended %s, last: %s", where, phrase.Count(int(times(m)), "time"), termination(last))
		f.Repair, f.Logs, f.Previous = crashRepair(last), true, true
	case len(now) > 0 && (!initial || now["exitCode"] != int64(0)):
		f.Says = fmt.Sprintf("%s has ended: %s", where, termination(now))
		f.Repair, f.Logs = crashRepair(now), true
	}
	return f
}

// times is how often a container was started again.
func times(m map[string]any) int64 {
	n, _ := m["restartCount"].(int64)
	return n
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
