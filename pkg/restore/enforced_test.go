package restore

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWhatTheServerAsksForReferencesIsAskedBefore_API037: a reference that blocks takes the right
// to update the owner's finalizers, and a change of references the right to delete their object,
// where the server has the plugin for it; elsewhere they take neither.
func TestWhatTheServerAsksForReferencesIsAskedBefore_API037(t *testing.T) {
	t.Parallel()
	plugin := testcluster.APIServerArgs("--enable-admission-plugins=OwnerReferencesPermissionEnforcement")
	for name, test := range map[string]struct {
		c    *testcluster.Cluster
		want []string
	}{
		"with the plugin": {testcluster.Start(t, testcluster.NoControllers(), plugin),
			[]string{"update configmaps finalizers", "delete configmaps "}},
		"without it": {testcluster.Shared(t), nil},
	} {
		w := &world{t, test.c.Config(), kubernetes.NewForConfigOrDie(test.c.Config()), test.c.Namespace(t)}
		w.make([]string{"owner", "child", "orphan"},
			[]edge{{"child", "owner", false, true}, {"orphan", "owner", false, false}})
		file := w.save()
		w.delete("owner", "child")
		w.takeOff([]string{"owner"})
		test.c.Kubectl(t, "create", "role", "restorer", "--verb=get,list,create,patch", "--resource=configmaps", "-n",
			w.namespace)
		test.c.Kubectl(t, "create", "rolebinding", "restorer", "--role=restorer", "--user=mary", "-n", w.namespace)
		testcluster.Eventually(t, "mary may create", func(ctx context.Context) (bool, error) {
			return test.c.Command(ctx, "auth", "can-i", "create", "configmaps", "--as", "mary", "-n",
				w.namespace).Run() == nil, nil
		})
		client, catalog := fixture.Connect(t, test.c.As("mary"))
		p, err := New(t.Context(), client, catalog, file, Options{OtherCluster: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range p.Forbidden {
			got = append(got, fmt.Sprintf("%s %s %s", f.Verb, f.Type.Resource, f.Subresource))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: missing are %q, want %q", name, got, test.want)
		}
	}
}
