package actor

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// TestWhoHasNoOtherWork: a role that is about one type, with Events and Leases, and lets watch it.
func TestWhoHasNoOtherWork(t *testing.T) {
	t.Parallel()
	of := func(group, resource string, verbs ...string) rule {
		return rule{groups: []string{group}, resources: []string{resource}, verbs: verbs}
	}
	all := []string{"get", "list", "watch"}
	for name, test := range map[string]struct {
		rules []rule
		want  bool
	}{
		"it alone":            {[]rule{of("", "configmaps", all...)}, true},
		"with what all write": {[]rule{of("", "configmaps", "*"), of("", "events", "create"), of("coordination.k8s.io", "leases", "*")}, true},
		"its subresources":    {[]rule{of("", "configmaps", all...), of("", "configmaps/finalizers", "update")}, true},
		"other types":         {[]rule{of("", "configmaps", all...), of("apps", "deployments", "patch")}, false},
		"another group":       {[]rule{of("example.com", "configmaps", all...)}, false},
		"read alone":          {[]rule{of("", "configmaps", "get", "list")}, false},
		"everything":          {[]rule{of("*", "*", "*")}, false},
		"nothing":             {nil, false},
	} {
		if got := (grant{rules: test.rules}).onlyWatches(schema.GroupResource{Resource: "configmaps"}); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestWhoeverWatchesHasNoOtherBinding: also one of all accounts of the namespace counts.
func TestWhoeverWatchesHasNoOtherBinding(t *testing.T) {
	t.Parallel()
	what := schema.GroupResource{Resource: "configmaps"}
	a := cluster.ServiceAccount{Namespace: "ns", Name: "a"}
	watches := grant{binding: "RoleBinding watch", accounts: []cluster.ServiceAccount{a},
		rules: []rule{{groups: []string{""}, resources: []string{"configmaps"}, verbs: []string{"watch"}}}}
	other := func(of ...cluster.ServiceAccount) grant {
		return grant{binding: "RoleBinding other", accounts: of,
			rules: []rule{{groups: []string{"apps"}, resources: []string{"deployments"}, verbs: []string{"patch"}}}}
	}
	for name, test := range map[string]struct {
		grants []grant
		want   string
	}{
		"it alone":              {[]grant{watches}, "RoleBinding watch"},
		"another of its own":    {[]grant{watches, other(a)}, ""},
		"one of its namespace":  {[]grant{other(cluster.ServiceAccount{Namespace: "ns"}), watches}, ""},
		"that of somebody else": {[]grant{watches, other(cluster.ServiceAccount{Namespace: "ns", Name: "b"})}, "RoleBinding watch"},
		"none":                  {nil, ""},
	} {
		if got := (policy{grants: test.grants}).watchesOnly(a, what); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
