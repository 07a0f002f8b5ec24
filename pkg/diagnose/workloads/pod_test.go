package workloads

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// TestNobodyKillsWhereNoKubeletHears: a shorter grace period has containers killed only where a kubelet
// does that.
func TestNobodyKillsWhereNoKubeletHears(t *testing.T) {
	t.Parallel()
	pod := v1alpha1.ObjectRef{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespace: "shop", Name: "a"}
	for name, test := range map[string]struct {
		node  core.Node
		kills bool
	}{"ready": {core.Node{}, true}, "not ready": {core.Node{NotReady: true}, false}} {
		kills := false
		for _, step := range terminating(test.node, &unstructured.Unstructured{Object: map[string]any{}}, 9).Commands {
			kills = kills || strings.Contains(step.Write(pod), "--grace-period")
		}
		if kills != test.kills {
			t.Errorf("on a node that is %s: %t", name, kills)
		}
	}
}

// TestWhichContainerHasAHook: the first of those that run, and none that has ended, waits or has no
// hook.
func TestWhichContainerHasAHook(t *testing.T) {
	t.Parallel()
	const statuses = "status: {containerStatuses: [{name: a, state: {running: {}}}, {name: b, state: {terminated: {}}}, {name: c, state: {waiting: {}}}]}"
	for text, want := range map[string]string{
		"spec: {containers: [{name: a, lifecycle: {preStop: {exec: {command: [sleep, \"9\"]}}}}]}": "container a is running and has a preStop hook: sleep 9",
		"spec: {containers: [{name: a, lifecycle: {preStop: {httpGet: {path: /drain}}}}]}":         "container a is running and has a preStop hook",
		"spec: {containers: [{name: a, lifecycle: {postStart: {exec: {command: [sleep]}}}}]}":      "",
		"spec: {containers: [{name: a}, {name: b, lifecycle: {preStop: {sleep: {seconds: 5}}}}]}":  "",
		"spec: {containers: [{name: c, lifecycle: {preStop: {sleep: {seconds: 5}}}}]}":             "",
		"spec: {containers: [{name: d, lifecycle: {preStop: {sleep: {seconds: 5}}}}]}":             "",
	} {
		pod := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text+"\n"+statuses), &pod.Object); err != nil {
			t.Fatal(err)
		}
		if got := hooked(pod); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
