package act

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// prepareStrict makes an owner and two dependents that do not block it, and plans its deletion.
func prepareStrict(t *testing.T, c *testcluster.Cluster, config *rest.Config, ns string) (*cluster.Client, *plan.Plan) {
	t.Helper()
	c.Apply(t, manifest(ns, "owner", "other"))
	uid := uidOf(t, c, ns, "owner")
	c.Apply(t, strings.ReplaceAll(manifest(ns, "a", "b"), "namespace:",
		"ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: "+uid+"}], namespace:"))
	client, p, _ := prepare(t, config, ns, plan.Foreground, "owner")
	return client, plan.New(p.Graph, p.Roots, plan.Foreground, plan.Options{Strict: true})
}

func patches(r *http.Request) bool { return r.Method == http.MethodPatch }

// blocksOwner says how the references of a config map block, joined.
func blocksOwner(t *testing.T, c *testcluster.Cluster, ns, name string) string {
	t.Helper()
	return c.Kubectl(t, "get", "configmap", name, "-n", ns, "-o",
		"jsonpath={range .metadata.ownerReferences[*]}{.name}={.blockOwnerDeletion} {end}")
}

// TestStrictBlocksBeforeTheFirstDelete, also what is changed meanwhile: what is decided then is
// decided on what is there.
func TestStrictBlocksBeforeTheFirstDelete(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		change string // of a, before its patch
		want   string
	}{
		"nothing": {want: "owner=true "},
		"a label": {change: `[{"op":"add","path":"/metadata/labels","value":{"any":"thing"}}]`,
			want: "owner=true "},
		"another owner before": {change: `[{"op":"add","path":"/metadata/ownerReferences/0","value":{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"66666666-6666-6666-6666-666666666666"}}]`, want: "x= owner=true "},
		"no reference":         {change: `[{"op":"remove","path":"/metadata/ownerReferences"}]`, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			ns := c.Namespace(t)
			proxy := faultproxy.Start(t, c.Config())
			client, p := prepareStrict(t, c, proxy.Config(), ns)
			proxy.On(func(r *http.Request) bool { return patches(r) && strings.HasSuffix(r.URL.Path, "/a") },
				faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					if test.change != "" {
						c.Kubectl(t, "patch", "configmap", "a", "-n", ns, "--type=json", "-p", test.change)
					}
					next.ServeHTTP(w, r)
				}))
			proxy.On(deletes, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if a, b := blocksOwner(t, c, ns, "a"), blocksOwner(t, c, ns, "b"); a != test.want || b != "owner=true " {
					t.Errorf("at the delete the references are %q and %q", a, b)
				}
				next.ServeHTTP(w, r)
			})
			var told record
			result, err := Run(t.Context(), client, p, told.options(nil, false))
			if err != nil || len(result.Done) != 3 || len(result.Failed)+len(result.Skipped) != 0 {
				t.Errorf("%v, result %+v; want two patches and a delete", err, result)
			}
		})
	}
}

// TestStrictDeletesNothingIfOneCannotBlock.
func TestStrictDeletesNothingIfOneCannotBlock(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	proxy := faultproxy.Start(t, c.Config())
	client, p := prepareStrict(t, c, proxy.Config(), ns)
	proxy.On(func(r *http.Request) bool { return patches(r) && strings.HasSuffix(r.URL.Path, "/b") },
		faultproxy.Status(403, "Forbidden", "you may not"))
	var told record
	result, err := Run(t.Context(), client, p, told.options(nil, true))
	if err != nil || len(result.Done) != 1 || len(result.Failed) != 1 || len(result.Skipped) != 1 {
		t.Fatalf("%v, result %+v; want a patched, b failed and the delete skipped", err, result)
	}
	if got := result.Failed[0].Err.Error(); !strings.Contains(got, `nothing was deleted: configmaps "b"`) ||
		!strings.Contains(got, "you may not") {
		t.Errorf("error: %s", got)
	}
	for _, r := range proxy.Requests() {
		if r.Method == http.MethodDelete {
			t.Errorf("%s %s was sent", r.Method, r.Path)
		}
	}
}

// TestStrictRootThatIsPatchedIsDeletedAsPlanned: the patch of a dependent that is named too is no
// change that needs a new plan.
func TestStrictRootThatIsPatchedIsDeletedAsPlanned(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	client, p := prepareStrict(t, c, c.Config(), ns)
	a, _ := p.Graph.Find("", "configmaps", ns, "a")
	p = plan.New(p.Graph, append([]graph.ID{a}, p.Roots...), plan.Foreground, plan.Options{Strict: true})
	var told record
	opts := told.options(nil, false)
	opts.Replan = func(context.Context, []graph.Ref) (Replanned, error) {
		t.Error("planned again")
		return Replanned{}, ErrChanged
	}
	result, err := Run(t.Context(), client, p, opts)
	if err != nil || len(result.Done) != 4 || len(result.Failed) != 0 {
		t.Errorf("%v, result %+v; want two patches and two deletes", err, result)
	}
}

// TestUserWhoMayNotBlockIsReported_API037: with the admission plugin, it takes the right to update
// the owner's finalizers. The dry run finds out, and writes nothing.
func TestUserWhoMayNotBlockIsReported_API037(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers(),
		testcluster.APIServerArgs("--enable-admission-plugins=OwnerReferencesPermissionEnforcement"))
	ns := c.Namespace(t)
	_, p := prepareStrict(t, c, c.Config(), ns)
	c.Kubectl(t, "create", "role", "deleter", "--verb=get,list,watch,delete,patch,update", "--resource=configmaps",
		"-n", ns)
	c.Kubectl(t, "create", "rolebinding", "deleter", "--role=deleter", "--user=mary", "-n", ns)
	testcluster.Eventually(t, "mary may delete", func(ctx context.Context) (bool, error) {
		return c.Command(ctx, "auth", "can-i", "delete", "configmaps", "--as", "mary", "-n", ns).Run() == nil, nil
	})
	mary, err := cluster.New(c.As("mary"), 0)
	if err != nil {
		t.Fatal(err)
	}
	refused, _ := Check(t.Context(), fixture.Unguarded(mary), p, nil)
	if len(refused) != 2 || refused[0].Action.Verb != plan.VerbBlock ||
		!strings.Contains(refused[0].Err.Error(), "finalizers") {
		t.Errorf("refused: %+v", refused)
	}
	admin, err := cluster.New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if refused, _ := Check(t.Context(), fixture.Unguarded(admin), p, nil); len(refused) != 0 {
		t.Errorf("refused to who may everything: %v", refused)
	}
	if got := blocksOwner(t, c, ns, "a"); got != "owner= " {
		t.Errorf("the dry run has written: %q", got)
	}
}
