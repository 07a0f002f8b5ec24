package core

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestNodesWithoutAKubelet: by the mark of the program that made them up. A machine that has booted has
// one, whatever somebody labels it with.
func TestNodesWithoutAKubelet(t *testing.T) {
	for _, test := range []struct {
		labels, annotations map[string]string
		boot, want          string
	}{
		{map[string]string{"vcluster.loft.sh/fake-node": "true"}, nil, "fake-boot", "vCluster"},
		{nil, map[string]string{"kwok.x-k8s.io/node": "fake"}, "", "kwok"},
		{map[string]string{"type": "virtual-kubelet"}, nil, "", "virtual kubelet"},
		{map[string]string{"type": "virtual-kubelet"}, nil, "0a51d3e2", ""},
		{map[string]string{"type": "gpu", "kubernetes.io/os": "linux"}, nil, "", ""},
		{map[string]string{"vcluster.loft.sh/fake-node": "false"}, nil, "", ""},
	} {
		node := &unstructured.Unstructured{Object: map[string]any{
			"status": map[string]any{"nodeInfo": map[string]any{"bootID": test.boot}}}}
		node.SetLabels(test.labels)
		node.SetAnnotations(test.annotations)
		if got := standsIn(node); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%v, %v: %q, want %q", test.labels, test.annotations, got, test.want)
		}
	}
}
