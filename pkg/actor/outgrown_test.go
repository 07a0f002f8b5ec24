package actor

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestRulesOfAGroupThatIsNotServed: they are outgrown if Kubernetes serves the resource in another
// group, of which no rule says anything.
func TestRulesOfAGroupThatIsNotServed(t *testing.T) {
	t.Parallel()
	of := func(group, resource string) cluster.Resource {
		return cluster.Resource{Type: graph.Type{Group: group, Resource: resource}}
	}
	types := []cluster.Resource{of("networking.k8s.io", "ingresses"), of("apps", "deployments"), of("example.com", "widgets")}
	rules := func(groups ...string) (all []rule) {
		for _, g := range groups {
			all = append(all, rule{groups: []string{g}, resources: []string{"ingresses", "ingresses/status", "widgets"}})
		}
		return all
	}
	for name, test := range map[string]struct {
		rules  []rule
		hidden string
		want   string
	}{
		"of extensions only":                {rules("extensions"), "", "[{ingresses.extensions ingresses.networking.k8s.io}]"},
		"of both":                           {rules("extensions", "networking.k8s.io"), "", "[]"},
		"of everything too":                 {append(rules("extensions"), rule{groups: []string{"*"}, resources: []string{"*"}}), "", "[]"},
		"of a group that may be served":     {rules("extensions"), "extensions", "[]"},
		"of a group of somebody else":       {rules("old.example.com"), "", "[]"},
		"of what is served nowhere":         {[]rule{{groups: []string{"policy"}, resources: []string{"podsecuritypolicies"}}}, "", "[]"},
		"of a custom resource of that name": {[]rule{{groups: []string{"extensions"}, resources: []string{"widgets"}}}, "", "[]"},
	} {
		var got []string
		for _, o := range outgrown(test.rules, types, func(group string) bool { return group == test.hidden }) {
			got = append(got, fmt.Sprintf("{%s %s}", o.Was, o.Now.GroupResource()))
		}
		if fmt.Sprint(got) != test.want {
			t.Errorf("%s: %v, want %s", name, got, test.want)
		}
	}
}
