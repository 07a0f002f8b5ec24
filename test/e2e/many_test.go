package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// several writes a kubeconfig with a context for each of some others.
func several(t *testing.T, of map[string]string) string {
	t.Helper()
	all := clientcmdapi.NewConfig()
	for name, file := range of {
		config, err := clientcmd.LoadFromFile(file)
		if err != nil {
			t.Fatal(err)
		}
		context := config.Contexts[config.CurrentContext]
		all.Clusters[name], all.AuthInfos[name] = config.Clusters[context.Cluster], config.AuthInfos[context.AuthInfo]
		if all.AuthInfos[name] == nil {
			all.AuthInfos[name] = clientcmdapi.NewAuthInfo()
		}
		all.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: context.Namespace}
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*all, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAClusterThatFailsIsAGap: of several clusters each way to fail is tried. The rows of the others
// are whole, the gap says why, and the exit code is that of gaps.
func TestAClusterThatFailsIsAGap(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}", "-n", ns)
	through := func(fault faultproxy.Fault) string {
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(func(*http.Request) bool { return true }, fault)
		return proxy.Kubeconfig(t)
	}
	edited := func(edit func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)) string {
		config, err := clientcmd.LoadFromFile(c.Kubeconfig())
		if err != nil {
			t.Fatal(err)
		}
		context := config.Contexts[config.CurrentContext]
		edit(config.Clusters[context.Cluster], config.AuthInfos[context.AuthInfo])
		path := filepath.Join(t.TempDir(), "kubeconfig")
		if err := clientcmd.WriteToFile(*config, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fails := map[string]string{
		"401":   through(faultproxy.Status(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "log in")),
		"403":   through(faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "not you")),
		"502":   through(faultproxy.Plain(http.StatusBadGateway, "<html>\x1b[31mbad gateway</html>")),
		"reset": through(faultproxy.Reset()),
		"tls": edited(func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			c.CertificateAuthorityData, c.CertificateAuthority = nil, ""
		}),
		"dns":    edited(func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.Server = "https://absent.invalid" }),
		"closed": edited(func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.Server = "https://127.0.0.1:1" }),
		"login": edited(func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			*u = clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{Command: "false", APIVersion: "client.authentication.k8s.io/v1",
				InteractiveMode: clientcmdapi.IfAvailableExecInteractiveMode}}
		}),
		"asks": edited(func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			*u = clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{Command: "cat", APIVersion: "client.authentication.k8s.io/v1",
				InteractiveMode: clientcmdapi.AlwaysExecInteractiveMode}}
		}),
	}
	all := map[string]string{"a": c.Kubeconfig(), "z": c.Kubeconfig(), "slow": through(faultproxy.Delay(200 * time.Millisecond))}
	for name, file := range fails {
		all[name] = file
	}
	args := []string{"--contexts", "*", "--kubeconfig", several(t, all), "-n", ns}
	for _, command := range [][]string{{"tree", "configmap/web"}, {"check"}, {"why"}} {
		t.Run(command[0], func(t *testing.T) {
			t.Parallel()
			got := run(t, slices.Concat(command, args, []string{"-o", "json"})...)
			var list v1alpha1.List
			if err := json.Unmarshal([]byte(got.stdout), &list); err != nil || got.code != 2 || list.Complete {
				t.Fatalf("code %d, complete %t, %v: %s", got.code, list.Complete, err, got.stderr)
			}
			var whole []string
			for _, item := range list.Items {
				of, _ := item["clusterRef"].(map[string]any)
				if item["complete"] == true && of["uid"] != nil {
					whole = append(whole, of["context"].(string))
				}
			}
			if !slices.Equal(whole, []string{"a", "slow", "z"}) || len(list.Items) != 3 {
				t.Errorf("whole are %q of %d", whole, len(list.Items))
			}
			for _, gap := range list.Gaps {
				if fails[gap.Cluster] == "" || gap.Message == "" || strings.Contains(gap.Message, "\x1b") {
					t.Errorf("gap %+v", gap)
				}
			}
			if len(list.Gaps) != len(fails) {
				t.Errorf("%d gaps of %d clusters that fail", len(list.Gaps), len(fails))
			}
		})
	}
	t.Run("text", func(t *testing.T) {
		t.Parallel()
		got := run(t, slices.Concat([]string{"tree", "configmap/web", "--no-headers"}, args)...)
		for _, name := range []string{"a", "slow", "z"} {
			if !strings.Contains(got.stdout, name+"   "+ns) && !strings.Contains(got.stdout, name+"      "+ns) {
				t.Errorf("no row of %s: %s", name, got.stdout)
			}
		}
		if got.code != 2 || !strings.Contains(got.stderr, "error: incomplete: 9 of 12 clusters were not read: ") ||
			!strings.Contains(got.stderr, "Warning: cluster dns was not read: ") {
			t.Errorf("code %d: %s", got.code, got.stderr)
		}
	})
	t.Run("metrics", func(t *testing.T) {
		t.Parallel()
		got := run(t, slices.Concat([]string{"why", "-o", "prometheus", "--exit-zero"}, args)...)
		if got.code != 0 || strings.Count(got.stdout, "# TYPE kubectl_gc_why_complete gauge") != 1 ||
			strings.Count(got.stdout, "\nkubectl_gc_why_complete{cluster=") != 3 ||
			!strings.Contains(got.stdout, `kubectl_gc_cluster_read{cluster="dns",cluster_uid=""} 0`) {
			t.Errorf("code %d: %s\n%s", got.code, got.stdout, got.stderr)
		}
	})
}

// TestAClusterThatIsSilentIsAGap once a request has taken as long as it may. A cluster that answers
// may be too slow for that as well, so nothing is expected of it.
func TestAClusterThatIsSilentIsAGap(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	silent := faultproxy.Start(t, c.Config())
	silent.On(func(*http.Request) bool { return true }, faultproxy.Hang())
	kubeconfig := several(t, map[string]string{"a": c.Kubeconfig(), "silent": silent.Kubeconfig(t)})
	got := run(t, "why", "-n", c.Namespace(t), "--contexts", "*", "--kubeconfig", kubeconfig, "--request-timeout=5s")
	if got.code != 2 || !strings.Contains(got.stderr, "Warning: cluster silent was not read: ") {
		t.Errorf("code %d: %s", got.code, got.stderr)
	}
}

// TestAnObjectThatOneClusterDoesNotHave is found absent there by the server's answer about it, for a
// program too. A 404 of something that is no API server is a gap.
func TestAnObjectThatOneClusterDoesNotHave(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}", "-n", ns)
	lacks := faultproxy.Start(t, c.Config())
	lacks.On(faultproxy.Path("/configmaps/web"), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r.URL.Path = strings.TrimSuffix(r.URL.Path, "web") + "absent"
		next.ServeHTTP(w, r)
	})
	lacks.On(faultproxy.Path("/configmaps"), faultproxy.Edit(func(list any) any {
		list.(map[string]any)["items"] = []any{}
		return list
	}))
	other := faultproxy.Start(t, c.Config())
	other.On(func(*http.Request) bool { return true }, faultproxy.Plain(http.StatusNotFound, "404 page not found"))
	kubeconfig := several(t, map[string]string{"has": c.Kubeconfig(), "lacks": lacks.Kubeconfig(t), "other": other.Kubeconfig(t)})
	for _, format := range []string{"json", "jsonl"} {
		got := run(t, "tree", "configmap/web", "-n", ns, "--kubeconfig", kubeconfig, "--contexts", "*", "-o", format)
		var list v1alpha1.List
		text := got.stdout
		if format == "json" {
			if err := json.Unmarshal([]byte(text), &list); err != nil {
				t.Fatalf("%v: %s%s", err, text, got.stderr)
			}
			if len(list.Items) != 1 || len(list.NotFound) != 1 || list.NotFound[0].ClusterRef.Context != "lacks" ||
				len(list.Gaps) != 1 || list.Gaps[0].Cluster != "other" || list.Complete {
				t.Errorf("%+v", list)
			}
		} else if strings.Count(text, `"kind":"Gap"`) != 1 || strings.Count(text, `"kind":"NotFound"`) != 1 {
			t.Errorf("%s", text)
		}
		if got.code != 2 || !strings.Contains(got.stderr, `lacks: Error from server (NotFound): configmaps`) {
			t.Errorf("code %d: %s", got.code, got.stderr)
		}
	}
}

// TestARowForEachClusterAndGap: rows say of each cluster that it was asked, or that it could not be.
func TestARowForEachClusterAndGap(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, dangling("web"), "-n", ns)
	dead := faultproxy.Start(t, c.Config())
	dead.On(func(*http.Request) bool { return true }, faultproxy.Plain(http.StatusBadGateway, "no"))
	kubeconfig := several(t, map[string]string{"a": c.Kubeconfig(), "b": dead.Kubeconfig(t)})
	got := run(t, "check", "-n", ns, "--kubeconfig", kubeconfig, "--contexts", "*", "-o", "ndjson")
	uid := c.Kubectl(t, "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
	var rows []string
	for line := range strings.Lines(got.stdout) {
		var row v1alpha1.Row
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if row.Cluster == "a" && row.ClusterUID != uid || row.ObservedAt.IsZero() {
			t.Errorf("row %s of %s with uid %q, at %s", row.Row, row.Cluster, row.ClusterUID, row.ObservedAt)
		}
		rows = append(rows, row.Cluster+" "+row.Row+" "+row.Code+" "+row.Name)
	}
	slices.Sort(rows)
	if want := []string{"a cluster  ", "a finding OwnerAbsent web", "b gap Unavailable "}; got.code != 2 || !slices.Equal(rows, want) {
		t.Errorf("code %d, rows %q; %s", got.code, rows, got.stderr)
	}
	out := t.TempDir()
	got = run(t, "check", "-n", ns, "--kubeconfig", kubeconfig, "--contexts", "*", "-o", "ndjson", "--out", out)
	for name, folder := range map[string]string{"a": "cluster=" + uid, "b": "cluster=unknown"} {
		files, err := filepath.Glob(filepath.Join(out, folder, "date=*", "check-*.ndjson"))
		if err != nil || len(files) != 1 || !strings.Contains(got.stderr, name+": Wrote ") || !strings.Contains(got.stderr, files[0]) {
			t.Fatalf("%s: %q, %v; %s", name, files, err, got.stderr)
		}
		text, err := os.ReadFile(files[0])
		if err != nil || strings.Count(string(text), `"context":"`+name+`"`) != strings.Count(string(text), "\n") {
			t.Errorf("%v: %s", err, text)
		}
	}
	if got.code != 2 || got.stdout != "" {
		t.Errorf("code %d, stdout %s", got.code, got.stdout)
	}
	for _, args := range [][]string{{"delete", "configmap/web", "--yes"}, {"run", "--yes"}, {"check", "--fix", "--yes"}} {
		refused := run(t, append(args, "-o", "ndjson", "-n", ns, "--kubeconfig", c.Kubeconfig())...)
		if refused.code != 1 || !strings.Contains(refused.stderr, "-o ndjson") || refused.stdout != "" {
			t.Errorf("%q: code %d: %s", args, refused.code, refused.stderr)
		}
	}
	c.Kubectl(t, "get", "configmap", "web", "-n", ns)
}

// TestWhatWritesIsForOneCluster: a command that writes is refused for several, and done in the one
// that a pattern names; what was mistyped is said once.
func TestWhatWritesIsForOneCluster(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	kubeconfig := several(t, map[string]string{"prod-a": c.Kubeconfig(), "prod-b": c.Kubeconfig(), "test": c.Kubeconfig()})
	listed := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(listed, []byte("test\n\n"+c.Kubeconfig()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]struct {
		code           int
		stdout, stderr string
	}{
		"delete configmap/web --yes --contexts prod-*":      {2, "", "nothing was done: --contexts names 2 clusters, and kubectl gc delete is for one at a time"},
		"delete configmap/web --yes -o name --contexts te*": {0, "configmap/web\n", ""},
		"tree --contexts nothing-*":                         {1, "", `no context matches "nothing-*"`},
		"tree --contexts prod-* --watch":                    {1, "", "--contexts and --watch cannot be used together"},
		"tree --contexts prod-* --context test":             {1, "", "--contexts and --context cannot be used together"},
		"tree --contexts prod-* -o dot":                     {1, "", "-o dot is of one cluster"},
		"tree --contexts prod-* -o custom-columns=KIND":     {1, "", "unexpected custom-columns spec"},
		"tree configmap/web --contexts prod-* -o custom-columns=KIND:.ref.kind,NAME:.ref.name": {0,
			"CLUSTER   KIND        NAME\nprod-a    ConfigMap   web\nprod-b    ConfigMap   web\n", ""},
		"tree --contexts prod-* -f -":             {1, "", "--contexts cannot be used with -f -"},
		"tree --contexts prod-* --depth x":        {1, "", "invalid argument"},
		"why --contexts prod-* --older-than=-1s":  {1, "", "--older-than must not be negative"},
		"why --contexts prod-* --probe":           {1, "", "--contexts and --probe cannot be used together"},
		"check --contexts prod-* --fix":           {1, "", "--contexts and --fix cannot be used together"},
		"explain x/y --contexts prod-*":           {1, "", "--contexts needs --in-cluster"},
		"tree --contexts prod-* --parallel=0":     {1, "", "--parallel must be at least 1"},
		"tree configmap/absent --contexts prod-*": {1, "", `configmaps "absent" not found`},
		"tree --contexts-from LISTED -o name":     {0, "test: ", ""},
	} {
		t.Run(args, func(t *testing.T) {
			c.Apply(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}", "-n", ns)
			words := strings.Split(strings.ReplaceAll(args, "LISTED", "cat "+listed), " ")
			if i := slices.Index(words, "cat"); i >= 0 {
				words = slices.Replace(words, i, i+2, "cat "+listed)
			}
			got := run(t, append(words, "--kubeconfig", kubeconfig, "-n", ns)...)
			if got.code != want.code || !strings.Contains(got.stdout, want.stdout) || !strings.Contains(got.stderr, want.stderr) ||
				strings.Count(got.stderr, "See 'kubectl gc") > 1 {
				t.Errorf("code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
			}
		})
	}
}

// TestADigestIsOfOneCluster: what was approved in one cluster is not deleted in another in which the
// objects have the same names. Its uid is another.
func TestADigestIsOfOneCluster(t *testing.T) {
	t.Parallel()
	c, other := testcluster.Shared(t), testcluster.Another(t, "types", workloads)
	ns := c.Namespace(t)
	other.Apply(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+ns+"}}")
	t.Cleanup(func() { other.Kubectl(t, "delete", "namespace", ns, "--wait=false") })
	for _, in := range []*testcluster.Cluster{c, other} {
		in.Apply(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}", "-n", ns)
	}
	digest := run(t, "delete", "configmap/web", "-n", ns, "--dry-run=client", "-o", "jsonpath={.digest}", "--kubeconfig", c.Kubeconfig())
	confirm := []string{"delete", "configmap/web", "-n", ns, "--confirm=" + digest.stdout, "--kubeconfig"}
	refused := run(t, append(confirm, other.Kubeconfig())...)
	if refused.code != 2 || !strings.Contains(refused.stderr, "the plan is not the approved one") {
		t.Errorf("code %d: %s%s", refused.code, refused.stdout, refused.stderr)
	}
	other.Kubectl(t, "get", "configmap", "web", "-n", ns)
	if got := run(t, append(confirm, c.Kubeconfig())...); got.code != 0 || !strings.Contains(got.stdout, "deleted") {
		t.Errorf("code %d: %s%s", got.code, got.stdout, got.stderr)
	}
}
