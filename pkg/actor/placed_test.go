package actor

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
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

// TestWhoMayWriteEverythingComesInOrder, and is named only where no other ServiceAccount may.
func TestWhoMayWriteEverythingComesInOrder(t *testing.T) {
	t.Parallel()
	of := func(resource, user string, names ...string) grant {
		g := grant{binding: "ClusterRoleBinding " + resource, users: []string{user},
			rules: []rule{{groups: []string{"*"}, resources: []string{resource}, verbs: []string{"*"}}}}
		for _, name := range names {
			g.accounts = append(g.accounts, cluster.ServiceAccount{Namespace: "op", Name: name})
		}
		return g
	}
	var want, got []string
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("account-%02d", 11-i))
		want = append(want, fmt.Sprintf("account-%02d", i))
	}
	everybody := policy{grants: []grant{of("*", "dora", names...)}}
	p := everybody.permitted(target{"shop.dev", "orders", "a"})
	p.what = "orders.shop.dev"
	for _, a := range p.Every {
		got = append(got, a.Account.Name)
	}
	if !slices.Equal(got, want) || !p.NoController() {
		t.Errorf("%q, no controller %t", got, p.NoController())
	}
	everybody.grants = append(everybody.grants, of("orders", "", "orders"))
	p = everybody.permitted(target{"shop.dev", "orders", "a"})
	p.what = "orders.shop.dev"
	if len(p.Every) > 0 || p.NoController() {
		t.Errorf("%v beside %v", p.Every, p.Accounts)
	}
}
