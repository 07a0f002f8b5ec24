package actor

import (
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestUsersAreKnownOrUnread: that nothing uses an object is known where the objects that could were
// listed, or discovery shows their group without their kind. Otherwise there is an error.
func TestUsersAreKnownOrUnread(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "user", "example.com/x"))
	fixture.Free(t, c, ns, "configmap/user")
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": ns, "name": "used"}}}
	// Of the object's own name, or of a name that all users have.
	const names, other = "nameField: data.none, name: used", "nameField: data.none, name: other"
	for name, c := range map[string]struct {
		as     *testcluster.Cluster
		use    string
		users  int
		unread string
	}{
		"used":                   {c, "{kind: ConfigMap, scope: same-namespace, " + names + "}", 1, ""},
		"not used":               {c, "{kind: ConfigMap, scope: same-namespace, " + other + "}", 0, ""},
		"the kind is not served": {c, "{group: batch, kind: Gone, scope: cluster, " + names + "}", 0, ""},
		"the group is not shown": {c, "{group: example.com, kind: Gone, scope: cluster, " + names + "}", 0, "discovery does not show"},
		"the group is not known": {c, "{group: '{group}', kind: ConfigMap, scope: cluster, " + names + "}", 0, "{group}"},
		"they may not be listed": {nil, "{kind: ConfigMap, scope: same-namespace, " + names + "}", 0, "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := `title: Test
components: {Test operator: {}}
finalizers:
- {id: test, exact: example.com/used, kinds: ['*'], component: Test operator, does: waits, ifRemoved: nobody waits, risk: none, polarity: guard, usedBy: [` + c.use + `], verified: source, source: 'https://example.com'}
`
			known, err := finalizer.Load(fstest.MapFS{"test.yaml": &fstest.MapFile{Data: []byte(text)}})
			if err != nil {
				t.Fatal(err)
			}
			config := testcluster.Shared(t).As("nobody")
			if c.as != nil {
				config = c.as.Config()
			}
			a, err := finderOf(t, config, known).Judge(t.Context(), object, "example.com/used")
			if err != nil {
				t.Fatal(err)
			}
			unread := ""
			if a.UsersUnread != nil {
				unread = a.UsersUnread.Error()
			}
			if len(a.Users) != c.users || (unread == "") != (c.unread == "") || !strings.Contains(unread, c.unread) {
				t.Errorf("%d users and %q, want %d and %q", len(a.Users), unread, c.users, c.unread)
			}
		})
	}
}
