package dumps

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/dump"
	"github.com/kubectl-gc/kubectl-gc/pkg/dump/serve"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var configMaps = graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}

// refreshed: after changes at random, a snapshot that is refreshed has the objects of a new list, and
// commands say the same of both, though the long list of ConfigMaps is not read again.
func refreshed(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	const ns = "moving"
	c.Kubectl(t, "create", "namespace", ns)
	long := strings.Repeat("x", 100<<10)
	configMap := func(i int, more string) string {
		return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d, annotations: {example.com/long: %s}%s}}\n---\n", i, long, more)
	}
	var all strings.Builder
	for i := range 15 {
		all.WriteString(configMap(i, ""))
	}
	c.Apply(t, all.String(), "-n", ns)
	file := takeSnapshot(t, c)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2 {
		for range 10 {
			i := rng.IntN(20)
			name := fmt.Sprintf("configmap/c%d", i)
			switch rng.IntN(4) {
			case 0:
				c.Kubectl(t, "delete", name, "-n", ns, "--ignore-not-found")
			case 1:
				c.Kubectl(t, "delete", name, "-n", ns, "--ignore-not-found")
				c.Apply(t, configMap(i, ""), "-n", ns)
			case 2:
				c.Apply(t, configMap(i, fmt.Sprintf(", labels: {changed: '%d'}", rng.IntN(100))), "-n", ns)
			case 3:
				c.Apply(t, configMap(i, ", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: nobody, uid: 11111111-0000-4000-8000-00000000000a}]"), "-n", ns)
			}
		}
		sameAsListed(t, c, ns, file)
	}
	allOfTheMetadata(t, c, file)
	refreshedUnderFaults(t, c, file)
	refreshRefuses(t, c, file)
	c.Kubectl(t, "delete", "configmaps", "--all", "-n", ns, "--wait=false")
}

func sameAsListed(t *testing.T, c *testcluster.Cluster, ns, file string) {
	t.Helper()
	proxy := faultproxy.Start(t, c.Config())
	if diff := cmp.Diff(objects(t, newClient(t, c, nil)), objects(t, newClient(t, c, refresh(t, proxy, file))), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("of a new list - and of a snapshot that is refreshed +\n%s", diff)
	}
	live, from := []string{"--kubeconfig", c.Kubeconfig()}, []string{"--from", file, "--refresh", "--kubeconfig", proxy.Kubeconfig(t)}
	run := []string{"run", "-n", ns, "--dry-run=client"}
	if diff := cmp.Diff(object(t, run, live), object(t, run, from)); diff != "" {
		t.Errorf("kubectl gc %v: of the cluster - and of the snapshot +\n%s", run, diff)
	}
	_, _, stderr := script.InProcess(t.Context(), "", append([]string{"tree", "-n", ns}, from...)...)
	if !strings.Contains(stderr, "Reading 1 long list from "+file+" (") {
		t.Errorf("it is not said that the list of ConfigMaps is continued: %s", stderr)
	}
	for _, r := range proxy.Requests() {
		if query := r.Query; r.Path == "/api/v1/configmaps" && query.Get("watch") == "" && query.Get("limit") != "1" {
			t.Errorf("the long list was read again: %s", query.Encode())
		}
	}
}

// refresh returns what a snapshot and the server behind a proxy come to.
func refresh(t *testing.T, proxy *faultproxy.Proxy, file string) *serve.Refreshed {
	t.Helper()
	d, err := dump.Open(t.Context(), file, dump.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	client, err := cluster.New(proxy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := serve.Refresh(t.Context(), client, d)
	if err != nil {
		t.Fatal(err)
	}
	return lists
}

func newClient(t *testing.T, c *testcluster.Cluster, lists *serve.Refreshed) *cluster.Client {
	t.Helper()
	config := c.Config()
	if lists != nil {
		config.Wrap(lists.Wrap)
	}
	client, err := cluster.New(config, 0)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// objects are all ConfigMaps, by uid.
func objects(t *testing.T, client *cluster.Client) map[string]graph.Object {
	t.Helper()
	all := map[string]graph.Object{}
	if _, err := client.ForEachMeta(t.Context(), configMaps, "", func(o *graph.Object) {
		kept := *o
		kept.Finalizers, kept.Owners = slices.Clone(o.Finalizers), slices.Clone(o.Owners)
		all[o.UID] = kept
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// allOfTheMetadata: who asks for more than a snapshot has is answered by the cluster.
func allOfTheMetadata(t *testing.T, c *testcluster.Cluster, file string) {
	t.Helper()
	metas := func(client *cluster.Client) []*unstructured.Unstructured {
		all, err := client.ListObjectMetas(t.Context(), configMaps, "", cluster.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	lists := refresh(t, faultproxy.Start(t, c.Config()), file)
	if diff := cmp.Diff(metas(newClient(t, c, nil)), metas(newClient(t, c, lists))); diff != "" {
		t.Errorf("all of the metadata of a new list - and of a snapshot that is refreshed +\n%s", diff)
	}
}

// refreshedUnderFaults: a list whose changes are not all known for sure is read again.
func refreshedUnderFaults(t *testing.T, c *testcluster.Cluster, file string) {
	t.Helper()
	want := objects(t, newClient(t, c, nil))
	for name, test := range map[string]struct {
		fault   faultproxy.Fault
		expired int
	}{
		"in JSON":               {faultproxy.JSONOnly(), 0},
		"no longer remembered":  {faultproxy.Status(http.StatusGone, metav1.StatusReasonExpired, "too old"), 1},
		"without an end":        {faultproxy.Plain(http.StatusOK, ""), 1},
		"forbidden":             {faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "no"), 0},
		"cut off in the middle": {faultproxy.Truncate(150 << 10), 0},
	} {
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(faultproxy.Watches("/configmaps"), test.fault)
		lists := refresh(t, proxy, file)
		if diff := cmp.Diff(want, objects(t, newClient(t, c, lists)), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("a watch that is %s: of a new list - and of a snapshot that is refreshed +\n%s", name, diff)
		}
		if n := lists.Lists(); n != 0 && name != "in JSON" {
			t.Errorf("a watch that is %s: %d lists are continued", name, n)
		}
		if len(lists.Expired) != test.expired {
			t.Errorf("a watch that is %s: %d lists are read again because of it, want %d", name, len(lists.Expired), test.expired)
		}
	}
}

// refreshRefuses another cluster, what is no snapshot, and whatever writes.
func refreshRefuses(t *testing.T, c *testcluster.Cluster, file string) {
	t.Helper()
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(faultproxy.Path("/namespaces/kube-system"), faultproxy.Edit(func(v any) any {
		v.(map[string]any)["metadata"].(map[string]any)["uid"] = "11111111-0000-4000-8000-00000000000b"
		return v
	}))
	blind := faultproxy.Start(t, c.Config())
	blind.On(faultproxy.Path("/namespaces/kube-system"), faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "no"))
	for want, args := range map[string][]string{
		"it is unknown whether ": {"tree", "-A", "--from", file, "--refresh", "--kubeconfig", blind.Kubeconfig(t)},
		"is of cluster ":         {"tree", "-A", "--from", file, "--refresh", "--kubeconfig", proxy.Kubeconfig(t)},
		"is no snapshot that says of which cluster it is: it was read as must": {"tree", "-A", "--from", c.Dump(t), "--refresh", "--kubeconfig", c.Kubeconfig()},
		"--refresh needs a snapshot":           {"tree", "-A", "--refresh", "--kubeconfig", c.Kubeconfig()},
		"is not a cluster, and can only be re": {"delete", "configmap/c0", "--yes", "--from", file, "--refresh", "--kubeconfig", c.Kubeconfig()},
	} {
		if code, out, stderr := script.InProcess(t.Context(), "", args...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("kubectl gc %v: exit code %d: %s%s", args, code, out, stderr)
		}
	}
}
