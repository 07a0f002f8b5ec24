package actor

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// TestWhichRoleLacksTheVerbs: one that is about objects of the type, and not one that is about
// others by their names, which may have the verbs.
func TestWhichRoleLacksTheVerbs(t *testing.T) {
	t.Parallel()
	account := cluster.ServiceAccount{Namespace: "op", Name: "op"}
	of := func(verbs []string, names ...string) policy {
		return policy{grants: []grant{{role: "Role op", binding: "RoleBinding op", accounts: []cluster.ServiceAccount{account},
			rules: []rule{{groups: []string{"shop.dev"}, resources: []string{"orders"}, verbs: verbs, names: names}}}}}
	}
	for name, test := range map[string]struct {
		of   policy
		want string
	}{
		"reads all":           {of([]string{"get", "list"}), "Role op"},
		"writes another":      {of([]string{"get", "update"}, "b"), ""},
		"reads one of a name": {of([]string{"get"}, "a"), ""},
	} {
		if got, says := test.of.lacking(account, target{"shop.dev", "orders", "a"}); got != test.want {
			t.Errorf("%s: %q, %s", name, got, says)
		}
	}
}

// TestWhichRoleWouldDo: one that is about objects of the type, and gives no right to everything else.
func TestWhichRoleWouldDo(t *testing.T) {
	t.Parallel()
	of := func(resources ...string) rule {
		return rule{groups: []string{"shop.dev"}, resources: resources, verbs: []string{"patch"}}
	}
	all := rule{groups: []string{"*"}, resources: []string{"*"}, verbs: []string{"*"}}
	for name, test := range map[string]struct {
		roles map[string][]rule
		want  string
	}{
		"one that is about it":           {map[string][]rule{"shop": {of("orders")}}, "shop"},
		"of somebody who may all":        {map[string][]rule{"argocd": {of("orders"), all}}, ""},
		"that beside the one":            {map[string][]rule{"shop": {of("orders")}, "argocd": {of("orders"), all}}, "shop"},
		"two that would do":              {map[string][]rule{"shop": {of("orders")}, "other": {of("orders", "carts")}}, ""},
		"one that comes with the server": {map[string][]rule{"edit": {of("orders")}, "system:x": {of("orders")}}, ""},
	} {
		if got := (policy{roles: test.roles}).roleFor(target{"shop.dev", "orders", "a"}); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
