package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// extension answers for an API group, probes.example.org, whose Probes it has in a namespace.
func extension(t *testing.T, namespace string) (port string) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/apis/probes.example.org/v1":
			fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"probes.example.org/v1","resources":[
				{"name":"probes","singularName":"probe","namespaced":true,"kind":"Probe","verbs":["get","list","watch","delete","deletecollection"]}]}`)
		case "/apis/probes.example.org/v1/probes":
			fmt.Fprintf(w, `{"kind":"ProbeList","apiVersion":"probes.example.org/v1","metadata":{"resourceVersion":"1"},"items":[
				{"kind":"Probe","apiVersion":"probes.example.org/v1","metadata":{"name":"one","namespace":%q,"uid":"6d1e7d5c-0000-4000-8000-000000000001","resourceVersion":"1"}}]}`, namespace)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// TestNamespaceTakesTheServerOfAnAPIAlong: the plan says that the namespace does not complete, and
// names the APIService. Beside the real controller it hangs until that is deleted.
func TestNamespaceTakesTheServerOfAnAPIAlong(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.Controllers(testcluster.Collector, "namespace-controller"),
		testcluster.APIServerArgs("--enable-aggregator-routing=false"))
	ns, other := c.Namespace(t), c.Namespace(t)
	const apiService = "v1.probes.example.org"
	c.Apply(t, fmt.Sprintf(`apiVersion: v1
kind: Service
metadata: {name: adapter, namespace: %[1]s}
spec: {type: ExternalName, externalName: localhost, ports: [{port: %[2]s}]}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: %[3]s}
spec:
  group: probes.example.org
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 10
  insecureSkipTLSVerify: true
  service: {namespace: %[1]s, name: adapter, port: %[2]s}
`, ns, extension(t, other), apiService))
	c.Apply(t, configMap("held", ", finalizers: [example.com/hold]"), "-n", ns)
	available := func(status string) {
		t.Helper()
		testcluster.Eventually(t, "the APIService is available: "+status, func(ctx context.Context) (bool, error) {
			out, err := c.Command(ctx, "get", "apiservice", apiService, "-o",
				`jsonpath={.status.conditions[?(@.type=="Available")].status}`).Output()
			return string(out) == status, err
		})
	}
	available("True")
	gc := func(args ...string) ran {
		t.Helper()
		return run(t, append(args, "--kubeconfig", c.Kubeconfig())...)
	}
	stuck := fmt.Sprintf(
		"without Service %s/adapter, APIService %s has no backend, and that blocks every namespace deletion: Namespace %s is stuck then", ns, apiService, ns)
	for _, test := range []struct{ args, says, saysNot string }{
		{"delete namespace/" + ns + " --dry-run=client", stuck, "protected"},
		{"delete namespace/" + ns + " apiservice/" + apiService + " --dry-run=client", "deletes 4 objects", "no backend"},
		{"delete namespace/" + other + " --dry-run=client", "Probe/one", "no backend"},
		{"delete namespace/" + other + " service/adapter -n " + ns + " --dry-run=client",
			"a namespace that is deleted afterwards can hang", "Namespace " + other + " is stuck"},
		{"delete namespace/" + other + " service/adapter -n " + ns + " --dry-run=client",
			"the server refuses its deletion: without Service " + ns + "/adapter, APIService " + apiService +
				" has no backend", ""},
		{"delete service/adapter -n " + ns + " --dry-run=client",
			"a namespace that is deleted afterwards can hang; delete APIService " + apiService + " too", "is stuck"},
		{"delete namespace/" + ns + " --dry-run=client -o jsonpath={.stuck[*].reason}/{.unserved[*].apiService.name}/{.unserved[*].backend.name}/{.unserved[*].namespaces[*].name}", "DiscoveryFails/" + apiService + "/adapter/" + ns, ""},
	} {
		r := gc(strings.Fields(test.args)...)
		if r.code != 0 || !strings.Contains(r.stdout, test.says) || test.saysNot != "" &&
			strings.Contains(r.stdout, test.saysNot) {
			t.Errorf("%s: exit code %d, want in it %q and not %q\n%s%s", test.args, r.code, test.says, test.saysNot, r.stdout,
				r.stderr)
		}
	}
	refused := fmt.Sprintf(
		"the namespace controller cannot finish Namespace/%s once Service %s/adapter is deleted, which answers APIService/%s",
		ns, ns, apiService)
	if r := gc("delete", "namespace/"+ns, "--yes"); r.code != 2 || !strings.Contains(r.stderr, refused) {
		t.Errorf("exit code %d, want the refusal %q\n%s%s", r.code, refused, r.stdout, r.stderr)
	}

	c.Kubectl(t, "delete", "namespace", ns, "--wait=false")
	available("False")
	condition := func(ctx context.Context) (bool, error) {
		out, err := c.Command(ctx, "get", "namespace", ns, "-o",
			`jsonpath={.status.conditions[?(@.type=="NamespaceDeletionDiscoveryFailure")].status}`).Output()
		return string(out) == "True", err
	}
	testcluster.Eventually(t, "the controller cannot discover the group", condition)
	c.Kubectl(t, "patch", "configmap", "held", "-n", ns, "--type=merge", "-p", release)
	if out := c.Kubectl(t, "get", "services,configmaps", "-n", ns, "-o", "name"); strings.Contains(out, "adapter") ||
		strings.Contains(out, "held") {
		t.Errorf("still in the namespace: %s", out)
	}
	c.Kubectl(t, "get", "namespace", ns)
	c.Kubectl(t, "delete", "apiservice", apiService)
	testcluster.Eventually(t, "the namespace is gone", func(ctx context.Context) (bool, error) {
		out, err := c.Command(ctx, "get", "namespace", ns, "--ignore-not-found", "-o", "name").Output()
		return len(out) == 0, err
	})
}
