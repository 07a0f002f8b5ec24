package cluster

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func gvr(t graph.Type) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: t.Group, Version: t.Version, Resource: t.Resource}
}

// viewer lets a user list the config maps of a namespace, and no more.
func viewer(namespace, user string) string {
	return `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: viewer-` + user + `, namespace: ` + namespace + `}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: viewer-` + user + `, namespace: ` + namespace + `}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: viewer-` + user + `}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ` + user + `}]
`
}

// allowed waits until the authorizer has heard of the binding.
func allowed(t *testing.T, c *testcluster.Cluster, user, resource, namespace string) {
	t.Helper()
	client := metadata.NewForConfigOrDie(c.As(user))
	testcluster.Eventually(t, user+" to be allowed to list "+resource, func(ctx context.Context) (bool, error) {
		_, err := client.Resource(schema.GroupVersionResource{Version: "v1",
			Resource: resource}).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if apierrors.IsForbidden(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// TestForbiddenFallsBackToNamespaces: a user who may list config maps in two namespaces and the
// namespaces sees those two and has a gap for every other; one who may not list the namespaces sees
// those that were named.
func TestForbiddenFallsBackToNamespaces(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	mine, other := c.Namespace(t), c.Namespace(t)
	c.Apply(t, configMaps(mine, 2)+configMaps(other, 2))
	c.Apply(t, viewer(mine, "ann")+"---"+viewer(mine, "ben"))
	c.Apply(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: `+mine+`}
rules: [{apiGroups: [""], resources: [namespaces], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: `+mine+`}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: `+mine+`}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]
`)
	allowed(t, c, "ann", "configmaps", mine)
	allowed(t, c, "ann", "namespaces", "")
	allowed(t, c, "ben", "configmaps", mine)
	g, listed := list(t, c.As("ann"), ListOptions{})
	if n := len(dump(g, mine)); n != 2 {
		t.Errorf("ann sees %d objects in her namespace, want 2", n)
	}
	var elsewhere, here int
	for _, gap := range gapsOf(listed, "configmaps") {
		switch {
		case gap.Reason != v1alpha1.GapForbidden || gap.Namespace == "":
			t.Errorf("gap %+v, want one for a namespace that is forbidden", gap)
		case gap.Namespace == other:
			elsewhere++
		case gap.Namespace == mine:
			here++
		}
	}
	if elsewhere != 1 || here != 0 {
		t.Errorf("ann has %d gaps for the other namespace and %d for her own, want 1 and 0", elsewhere, here)
	}

	g, listed = list(t, c.As("ben"), ListOptions{Fallback: []string{mine}})
	if n := len(dump(g, mine)); n != 2 {
		t.Errorf("ben sees %d objects in the namespace he named, want 2", n)
	}
	wantGap(t, listed, "configmaps", v1alpha1.GapForbidden, "at the cluster scope")
}

// TestGapHidesOnlyItsScope: where a user may list a type in one namespace only, an owner there is
// absent and one elsewhere unknown.
func TestForbiddenElsewhereIsUnknown(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	mine := c.Namespace(t)
	c.Apply(t, `
apiVersion: v1
kind: ConfigMap
metadata:
  name: dependent
  namespace: `+mine+`
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: gone, uid: 33333333-3333-3333-3333-333333333333}
  - {apiVersion: v1, kind: Node, name: node1, uid: 44444444-4444-4444-4444-444444444444}
---`+viewer(mine, "carl"))
	allowed(t, c, "carl", "configmaps", mine)
	g, _ := list(t, c.As("carl"), ListOptions{Fallback: []string{mine}})
	for uid, want := range map[string]graph.State{
		"33333333-3333-3333-3333-333333333333": graph.Absent,
		"44444444-4444-4444-4444-444444444444": graph.Unknown,
	} {
		id, ok := g.Lookup(uid)
		if !ok || g.State(id) != want {
			t.Errorf("owner %s: found %t, state %d, want %d", uid, ok, g.State(id), want)
		}
	}
}
