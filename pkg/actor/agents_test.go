package actor

import "testing"

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
