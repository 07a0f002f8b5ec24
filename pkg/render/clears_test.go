package render

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// TestWhichFinalizersGoByThemselves: that of a claim does, if it was seen that nothing uses the claim.
func TestWhichFinalizersGoByThemselves(t *testing.T) {
	t.Parallel()
	p := Plan{Plan: &plan.Plan{Facts: plan.Facts{Unused: []graph.ID{0, 2, 3}}}}
	for object, test := range map[graph.ID]struct {
		finalizers []string
		want       bool
	}{
		0: {[]string{"kubernetes.io/pvc-protection"}, true},
		1: {[]string{"kubernetes.io/pvc-protection"}, false},
		2: {[]string{"kubernetes.io/pv-protection", "example.com/disk"}, false},
		3: {nil, false},
	} {
		if got := p.clears(plan.Blocker{Object: object, Finalizers: test.finalizers}); got != test.want {
			t.Errorf("%v on object %d: %v, want %v", test.finalizers, object, got, test.want)
		}
	}
}
