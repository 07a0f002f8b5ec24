package actor

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
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
