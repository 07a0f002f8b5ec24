package deletion

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestADeploymentMakesTheReplicaSetOfItsTemplateAgain: whatever the revisions are. While a rollback
// is under way the ReplicaSet has its new one before the Deployment has.
func TestADeploymentMakesTheReplicaSetOfItsTemplateAgain(t *testing.T) {
	t.Parallel()
	with := func(image, hash, revision string, paused bool, collisions any) *unstructured.Unstructured {
		labels := map[string]any{"app": "web"}
		if hash != "" {
			labels["pod-template-hash"] = hash
		}
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"deployment.kubernetes.io/revision": revision}},
			"spec": map[string]any{"paused": paused, "template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": image}}},
			}},
			"status": map[string]any{"collisionCount": collisions, "observedGeneration": int64(1)},
		}}
	}
	deployment := with("v1", "", "2", false, int64(0))
	for name, test := range map[string]struct {
		of, set      *unstructured.Unstructured
		again, known bool
	}{
		"its template":                  {deployment, with("v1", "a", "2", false, nil), true, true},
		"its template, rolled back to":  {deployment, with("v1", "a", "3", false, nil), true, true},
		"its revision, rolled back":     {deployment, with("v2", "b", "2", false, nil), false, true},
		"an old one":                    {deployment, with("v2", "b", "1", false, nil), false, true},
		"paused":                        {with("v1", "", "2", true, int64(0)), with("v1", "a", "2", false, nil), false, true},
		"after a collision":             {with("v1", "", "2", false, int64(1)), with("v1", "a", "2", false, nil), true, false},
		"an old one, after a collision": {with("v1", "", "2", false, int64(1)), with("v2", "b", "1", false, nil), false, true},
		"not read":                      {nil, with("v1", "a", "2", false, nil), false, false},
	} {
		if again, known := madeAgain(test.of, test.set); known != test.known || known && again != test.again {
			t.Errorf("%s: again %t, known %t", name, again, known)
		}
	}
}
