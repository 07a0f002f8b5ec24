package actor

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestAllWhoMayElsewhereCount: that one workload alone may in other namespaces is concluded from
// all of them, and not from the first few that are named.
func TestAllWhoMayElsewhereCount(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	infra, ns := c.Namespace(t), c.Namespace(t)
	runsAs(t, c, infra, "op", "op", 1)
	runsAs(t, c, infra, "backup", "backup", 1)
	may := func(account string) {
		in := c.Namespace(t)
		c.Kubectl(t, "create", "role", "op", "-n", in, "--verb=patch", "--resource=poddisruptionbudgets.policy")
		c.Kubectl(t, "create", "rolebinding", "op", "-n", in, "--role=op", "--serviceaccount="+infra+":"+account)
	}
	for range phrase.MaxNamed {
		may("op")
	}
	of := objectNamed("policy/v1", "PodDisruptionBudget", ns, "it")
	p, _ := finderOf(t, c.Config(), fixture.Packs(t)).Permitted(t.Context(), of)
	if only, _ := p.OnlyPlaced(); only == nil || only.GetName() != "op" {
		t.Errorf("the only one is %v", only)
	}
	may("backup")
	p, _ = finderOf(t, c.Config(), fixture.Packs(t)).Permitted(t.Context(), of)
	if only, _ := p.OnlyPlaced(); only != nil || len(p.Placed) != phrase.MaxNamed+1 {
		t.Errorf("the only one of %d is %v", len(p.Placed), only)
	}
}
