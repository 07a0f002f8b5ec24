package diagnose

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// renamed gives the only entry of a pack another id, so that it can stand beside its like.
func renamed(t testing.TB, r *finalizer.Registry) *finalizer.Registry {
	t.Helper()
	k := r.Packs()[0].Finalizers[0]
	text := fmt.Sprintf(`title: Other
components: {Other operator: {leases: ['%s']}}
finalizers:
- {id: other, exact: %s, kinds: ['*'], component: Other operator, does: deletes it, ifRemoved: it leaks, risk: leaks-external, polarity: cleanup, verified: source, source: 'https://example.com'}
`, strings.Join(k.Alive.Leases, "', '"), k.Exact)
	other, err := finalizer.Load(fstest.MapFS{"other.yaml": &fstest.MapFile{Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	return other
}

// reference writes an ownerReference to a config map.
func reference(t testing.TB, c *testcluster.Cluster, namespace, owner string, block bool) string {
	t.Helper()
	uid := c.Kubectl(t, "get", "configmap", owner, "-n", namespace, "-o", "jsonpath={.metadata.uid}")
	return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, name: %s, uid: %s, blockOwnerDeletion: %t}", owner, uid, block)
}

// owned creates a config map with an owner.
func owned(t testing.TB, c *testcluster.Cluster, namespace, name, owner string, block bool, finalizers ...string) {
	t.Helper()
	c.Apply(t, fmt.Sprintf(
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s, finalizers: [%s], ownerReferences: [%s]}\n",
		name, namespace, strings.Join(finalizers, ", "), reference(t, c, namespace, owner, block)))
}

// own gives a config map that exists an owner.
func own(t testing.TB, c *testcluster.Cluster, namespace, name, owner string, block bool) {
	t.Helper()
	c.Apply(t, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s, ownerReferences: [%s]}\n",
		name, namespace, reference(t, c, namespace, owner, block)))
}

// finalize empties spec.finalizers of a namespace, as whoever is in a hurry does.
func finalize(t testing.TB, c *testcluster.Cluster, namespace string) {
	t.Helper()
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q},"spec":{"finalizers":[]}}`,
		namespace)
	cmd := c.Command(context.WithoutCancel(t.Context()), "replace", "--raw", "/api/v1/namespaces/"+namespace+"/finalize",
		"-f", "-")
	cmd.Stdin = strings.NewReader(body)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
