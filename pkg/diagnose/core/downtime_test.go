package core

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// TestScalesToZero: only what scales the very workload, and would scale it to 0 again.
func TestScalesToZero(t *testing.T) {
	t.Parallel()
	w := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet"}}
	w.SetName("op")
	const of = "scaleTargetRef: {kind: StatefulSet, name: op}"
	for text, want := range map[string]bool{
		"{spec: {" + of + "}}":                                                                                          true,
		"{spec: {" + of + ", minReplicaCount: 0}}":                                                                      true,
		"{spec: {" + of + ", minReplicaCount: 2, idleReplicaCount: 0}}":                                                 true,
		"{spec: {" + of + ", minReplicaCount: 1}}":                                                                      false,
		"{spec: {scaleTargetRef: {name: op}}}":                                                                          false,
		"{spec: {scaleTargetRef: {kind: StatefulSet, name: other}}}":                                                    false,
		"{spec: {scaleTargetRef: {apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, name: op}}}":                   false,
		"{metadata: {annotations: {autoscaling.keda.sh/paused-replicas: '0'}}, spec: {" + of + ", minReplicaCount: 1}}": true,
		"{metadata: {annotations: {autoscaling.keda.sh/paused-replicas: '1'}}, spec: {" + of + "}}":                     false,
		"{metadata: {annotations: {autoscaling.keda.sh/paused: 'true'}}, spec: {" + of + "}}":                           false,
		"{metadata: {deletionTimestamp: '2026-01-02T12:00:00Z'}, spec: {" + of + "}}":                                   false,
		"{spec: {scaleTargetRef: [op]}}":                                                                                false,
	} {
		o := &unstructured.Unstructured{}
		content, err := yaml.YAMLToJSON([]byte(text))
		if err == nil {
			err = utiljson.Unmarshal(content, &o.Object)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := scalesToZero(o, w); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
