package actor

import "testing"

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
