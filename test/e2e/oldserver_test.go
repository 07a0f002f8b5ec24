package e2e

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// notServed is how a server answers for a path that it does not have.
var notServed = faultproxy.Plain(http.StatusNotFound, "404 page not found\n")

// oldServer is a proxy that answers as a server of Kubernetes 1.29 does of which nothing is turned
// on, and that does not aggregate discovery or serve reviews of the user either, as older and
// restricted ones do not.
func oldServer(t *testing.T, c *testcluster.Cluster) *faultproxy.Proxy {
	t.Helper()
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(faultproxy.Path("/version"), faultproxy.Version("v1.29.15"))
	proxy.On(faultproxy.Core, faultproxy.LegacyDiscovery())
	proxy.On(faultproxy.Groups, faultproxy.LegacyDiscovery())
	for path, later := range map[string][]string{
		"/apis/admissionregistration.k8s.io/v1": {"validatingadmissionpolicies", "mutatingadmissionpolicies"},
		"/apis/networking.k8s.io/v1":            {"ipaddresses", "servicecidrs"},
		"/apis/storage.k8s.io/v1":               {"volumeattributesclasses"},
	} {
		proxy.On(faultproxy.Path(path), faultproxy.Edit(func(v any) any {
			list := v.(map[string]any)
			list["resources"] = slices.DeleteFunc(list["resources"].([]any), func(r any) bool {
				name, _ := r.(map[string]any)["name"].(string)
				return slices.ContainsFunc(later, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
			})
			return v
		}))
		proxy.On(func(r *http.Request) bool {
			return slices.ContainsFunc(later,
				func(resource string) bool { return strings.HasPrefix(r.URL.Path, path+"/"+resource) })
		}, notServed)
	}
	proxy.On(faultproxy.Path("/selfsubjectreviews"), notServed)
	proxy.On(faultproxy.Path("/selfsubjectaccessreviews"), notServed)
	return proxy
}

// TestCommandsFallBackOnAnOldServer: it has neither aggregated discovery, nor admission policies,
// nor reviews, and answers lists from etcd. The commands come to what they come to on a new one,
// without a gap, and -v=1 says what they do without.
func TestCommandsFallBackOnAnOldServer(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMap("owner", "")+configMap("stuck", ", finalizers: [example.com/hold]")+
		configMap("left", ", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: nobody, uid: 11111111-0000-4000-8000-000000000004}]"), "-n", ns)
	t.Cleanup(func() { patch(t, c, ns, "stuck", `{"metadata":{"finalizers":null}}`) })
	c.Apply(t, configMap("child", ownedBy("owner", uidOf(t, c, ns, "owner"), "")), "-n", ns)
	c.Kubectl(t, "delete", "configmap", "stuck", "-n", ns, "--wait=false")
	old := oldServer(t, c)
	kubeconfig := old.Kubeconfig(t)
	for _, test := range []struct {
		args string
		code int
		key  string // of what there is one at least
	}{
		{"tree configmap/owner -o json", 0, "nodes"},
		{"tree -o json", 0, "nodes"},
		{"delete configmap/owner --dry-run=client -o json", 0, "actions"},
		{"delete configmap/owner --dry-run=server -o json", 0, "actions"},
		{"why --older-than 0s -o json", 2, "stuck"},
		{"check -o json", 2, "findings"},
		{"run --dry-run -o json", 0, "actions"},
	} {
		args := append(strings.Fields(test.args), "-n", ns)
		want := run(t, append(args, "--kubeconfig", c.Kubeconfig())...)
		p := start(t, append(args, "--kubeconfig", kubeconfig, "-v=1")...)
		if code := p.code(); code != test.code || code != want.code {
			t.Errorf("%s: exit code %d, on a new server %d, want %d\n%s", test.args, code, want.code, test.code, &p.stderr)
			continue
		}
		var got, new map[string]any
		if err := json.Unmarshal([]byte(p.stdout.String()), &got); err != nil {
			t.Fatalf("%s: %v\n%s", test.args, err, &p.stdout)
		}
		if err := json.Unmarshal([]byte(want.stdout), &new); err != nil {
			t.Fatalf("%s: %v\n%s", test.args, err, want.stdout)
		}
		found, _ := got[test.key].([]any)
		expected, _ := new[test.key].([]any)
		if got["complete"] != true || len(found) == 0 || len(found) != len(expected) || got["digest"] != new["digest"] {
			t.Errorf("%s: on an old server\n%s\non a new one\n%s", test.args, &p.stdout, want.stdout)
		}
		for _, said := range []string{"each group version is asked for", "answers lists from etcd"} {
			if !strings.Contains(p.stderr.String(), said) {
				t.Errorf("%s: -v=1 does not say %q:\n%s", test.args, said, &p.stderr)
			}
		}
	}
	audit := filepath.Join(t.TempDir(), "audit")
	p := start(t, "delete", "configmap/owner", "--yes", "--wait=false", "--audit-file", audit, "-n", ns, "--kubeconfig",
		kubeconfig, "-v=1")
	if code := p.code(); code != 0 {
		t.Errorf("delete: exit code %d\n%s", code, &p.stderr)
	}
	for _, said := range []string{"does not say what is allowed", "does not tell the name of the user"} {
		if !strings.Contains(p.stderr.String(), said) {
			t.Errorf("delete: -v=1 does not say %q:\n%s", said, &p.stderr)
		}
	}
	for _, r := range old.Requests() {
		if limit := r.Query.Get("limit"); len(limit) > 4 {
			t.Errorf("%s is asked for %s objects in one answer", r.Path, limit)
		}
	}
}
