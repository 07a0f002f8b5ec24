package deletion

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestADeploymentMakesTheReplicaSetOfItsRevisionAgain, as far as its controller has come.
func TestADeploymentMakesTheReplicaSetOfItsRevisionAgain(t *testing.T) {
	t.Parallel()
	deployment := func(paused bool, generation, observed int64, revision string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"generation": generation, "annotations": map[string]any{"deployment.kubernetes.io/revision": revision}},
			"spec":     map[string]any{"paused": paused}, "status": map[string]any{"observedGeneration": observed},
		}}
	}
	set := deployment(false, 1, 1, "2")
	for name, test := range map[string]struct {
		of, set      *unstructured.Unstructured
		again, known bool
	}{
		"its revision":       {deployment(false, 4, 4, "2"), set, true, true},
		"an old one":         {deployment(false, 4, 4, "3"), set, false, true},
		"paused":             {deployment(true, 5, 4, "2"), set, false, true},
		"not seen yet":       {deployment(false, 5, 4, "2"), set, true, false},
		"without a revision": {deployment(false, 4, 4, ""), set, false, false},
		"not read":           {nil, set, false, false},
	} {
		if again, known := madeAgain(test.of, test.set); known != test.known || known && again != test.again {
			t.Errorf("%s: again %t, known %t", name, again, known)
		}
	}
}
