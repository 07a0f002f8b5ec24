package actor

import (
	"slices"
	"testing"
)

// TestAgentsHaveNoOtherRights: a role about types of one domain, with Events and Leases.
func TestAgentsHaveNoOtherRights(t *testing.T) {
	t.Parallel()
	of := func(group, resource string) rule {
		return rule{groups: []string{group}, resources: []string{resource}, verbs: []string{"*"}}
	}
	for name, test := range map[string]struct {
		rules []rule
		want  bool
	}{
		"its types":           {[]rule{of("placement.fleet.io", "works"), of("cluster.fleet.io", "*")}, true},
		"with what all write": {[]rule{of("placement.fleet.io", "*"), of("", "events"), of("coordination.k8s.io", "leases")}, true},
		"as people have":      {[]rule{of("placement.fleet.io", "*"), of("", "pods")}, false},
		"another domain":      {[]rule{of("placement.fleet.io", "*"), of("cert-manager.io", "certificates")}, false},
		"everything":          {[]rule{of("*", "*")}, false},
	} {
		if got := (grant{rules: test.rules}).onlyAbout("placement.fleet.io"); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestWhoIsAnAgent: a user to whom another binding gives other rights is none, and nobody is while a
// part of RBAC cannot be read.
func TestWhoIsAnAgent(t *testing.T) {
	t.Parallel()
	of := func(binding, group, resource string, users ...string) grant {
		rules := []rule{{groups: []string{group}, resources: []string{resource}, verbs: []string{"*"}}}
		return grant{binding: binding, users: users, rules: rules}
	}
	works := of("RoleBinding member", "placement.fleet.io", "*", "member-1")
	without := of("RoleBinding member", "placement.fleet.io", "works", "member-1")
	for name, test := range map[string]struct {
		of   policy
		want []Agent
	}{
		"one":       {policy{grants: []grant{works}}, []Agent{{"member-1", "RoleBinding member"}}},
		"one twice": {policy{grants: []grant{works, works}}, []Agent{{"member-1", "RoleBinding member"}}},
		"a person": {policy{grants: []grant{works, of("RoleBinding view", "", "pods", "member-1"),
			of("ClusterRoleBinding of-others", "", "nodes", "ann")}}, nil},
		"a person of the cluster": {policy{grants: []grant{of("ClusterRoleBinding ops", "apps", "*", "member-1"), works}}, nil},
		"everywhere":              {policy{grants: []grant{of("ClusterRoleBinding all", "placement.fleet.io", "works", "member-1")}}, nil},
		"who writes no status":    {policy{grants: []grant{without}}, nil},
		"who has a person's name": {policy{grants: []grant{of("RoleBinding a", "placement.fleet.io", "*", "dora", "oidc:ann.lee", "bob-2@corp.example.com")}}, nil},
		"not all is read":         {policy{grants: []grant{works}, unread: []string{"ClusterRoleBindings"}}, nil},
	} {
		got := test.of.agents(target{group: "placement.fleet.io", resource: "works", name: "w"})
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
