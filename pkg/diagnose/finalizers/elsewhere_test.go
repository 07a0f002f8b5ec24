package finalizers

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestWhoWritesATypeLikeThat: the server or a lister does, and not who speaks of a bucket at a cloud.
func TestWhoWritesATypeLikeThat(t *testing.T) {
	t.Parallel()
	r := cluster.Resource{Type: graph.Type{Group: "networking.istio.io", Version: "v1", Resource: "gateways", Kind: "Gateway"}}
	for _, test := range []struct {
		word, group string
		want        bool
	}{
		{"gateways", ".networking.istio.io", true}, {"gateway", ".networking.istio.io", true},
		{"Gateway", ".networking.istio.io", true}, {"gateways", "", true},
		{"gateway", "", false}, {"Gateway", "", false}, {"gateway", ".example.com", false},
	} {
		if got := byTheAPI(r, test.word, test.group); got != test.want {
			t.Errorf("%s%s: %t", test.word, test.group, got)
		}
	}
}
