package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// dryRunObjects are a tree under a config map, one that a finalizer holds, one that another owner
// keeps, and a definition with an instance.
const dryRunObjects = `
apiVersion: v1
kind: ConfigMap
metadata: {name: owner, labels: {app: web}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other, labels: {app: web}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: held, finalizers: [example.com/hold]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: shared}
---
apiVersion: v1
kind: Secret
metadata: {name: below}
---
apiVersion: v1
kind: Pod
metadata: {name: pod}
spec: {containers: [{name: c, image: c}]}
`

const dryRunDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.$NS.example.com}
spec:
  group: $NS.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// makeDryRunObjects makes them and returns a file with the first.
func makeDryRunObjects(t *testing.T, c *testcluster.Cluster, ns string) string {
	t.Helper()
	c.Apply(t, strings.ReplaceAll(dryRunDefinition, "$NS", ns))
	// It stays: a type that goes would be a gap of other tests.
	c.Apply(t, dryRunObjects, "-n", ns)
	c.Apply(t, "apiVersion: "+ns+".example.com/v1\nkind: Widget\nmetadata: {name: widget}\n", "-n", ns)
	for dependent, owners := range map[string][]string{
		"configmap/held": {"owner"}, "configmap/shared": {"owner", "other"}, "secret/below": {"held"}, "pod/pod": {"owner"},
	} {
		var refs []string
		for _, owner := range owners {
			uid := c.Kubectl(t, "get", "configmap", owner, "-n", ns, "-o", "jsonpath={.metadata.uid}")
			refs = append(refs, `{"apiVersion":"v1","kind":"ConfigMap","name":"`+owner+`","uid":"`+uid+
				`","blockOwnerDeletion":true}`)
		}
		c.Kubectl(t, "patch", dependent, "-n", ns, "--type=merge", "-p",
			`{"metadata":{"ownerReferences":[`+strings.Join(refs, ",")+`]}}`)
	}
	file := filepath.Join(t.TempDir(), "objects.yaml")
	if err := os.WriteFile(file, []byte(dryRunObjects), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// versions are the uids and resourceVersions of all that the test made.
func versions(t *testing.T, c *testcluster.Cluster, ns string) string {
	t.Helper()
	const each = `{.kind} {.metadata.name} {.metadata.uid} {.metadata.resourceVersion} {.metadata.deletionTimestamp}{"\n"}`
	return c.Kubectl(t, "get", "configmaps,secrets,pods,widgets."+ns+".example.com", "-n", ns, "-o",
		`jsonpath={range .items[*]}`+each+`{end}`) +
		c.Kubectl(t, "get", "crd", "widgets."+ns+".example.com", "-o", "jsonpath="+each) +
		c.Kubectl(t, "get", "namespace", ns, "-o", "jsonpath="+each)
}

// dryDeletes counts the deletes of a request log and fails the test for every request that stores
// something.
func dryDeletes(t *testing.T, command string, requests []faultproxy.Request) int {
	t.Helper()
	deletes := 0
	for _, r := range requests {
		switch {
		case r.Method == http.MethodGet:
		case r.Method == http.MethodPost && r.Path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
			// which is a question
		case r.Method == http.MethodDelete && isDryRun(r):
			deletes++
		default:
			t.Errorf("%s: %s %s with %s", command, r.Method, r.Path, r.Body)
		}
	}
	return deletes
}

func isDryRun(r faultproxy.Request) bool {
	var body metav1.DeleteOptions
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return false
	}
	return slices.Equal(body.DryRun, []string{metav1.DryRunAll}) ||
		slices.Equal(r.Query["dryRun"], []string{metav1.DryRunAll})
}

// TestNoDryRunOfTheCommandWritesAnything_P09: the request log of each form has reads, and deletes
// with dryRun=All where the server is asked, and what was there is there in the same
// resourceVersion. So it is with what is refused or not confirmed. It makes a type, which nobody
// else is to see come and go.
func TestNoDryRunOfTheCommandWritesAnything_P09(t *testing.T) {
	// It takes more than 10 s: each form of the command runs once, against objects of its own.
	t.Parallel()
	c := testcluster.Another(t, "types", workloads)
	ns := c.Namespace(t)
	file := makeDryRunObjects(t, c, ns)
	before := versions(t, c, ns)
	if n := strings.Count(before, "\n"); n != 9 {
		t.Fatalf("%d objects, want 9:\n%s", n, before)
	}
	proxy := faultproxy.Start(t, c.Config())
	kubeconfig := proxy.Kubeconfig(t)
	seen := 0
	// A command that plans nothing would write nothing either; with =server there have to be
	// deletes.
	check := func(code int, atLeast, atMost int, typed string, args ...string) {
		t.Helper()
		command := strings.Join(args, " ")
		got := runTyping(t, typed, append([]string{"delete", "-n", ns, "--kubeconfig", kubeconfig}, args...)...)
		requests := proxy.Requests()
		deletes := dryDeletes(t, command, requests[seen:])
		seen = len(requests)
		if got.code != code || deletes < atLeast || deletes > atMost {
			t.Errorf("%s: exit code %d and %d dry deletes, want %d and %d to %d\n%s%s", command, got.code, deletes, code,
				atLeast, atMost, got.stdout, got.stderr)
		}
	}
	const many = 100
	roots := map[string][]string{
		"one":          {"configmap/owner"},
		"several":      {"configmap/owner", "configmap/other", "secret/below"},
		"a file":       {"-f", file},
		"a selector":   {"configmaps", "-l", "app=web"},
		"all":          {"configmaps,pods", "--all"},
		"a field":      {"configmaps", "--field-selector", "metadata.name=owner"},
		"a definition": {"crd", "widgets." + ns + ".example.com"},
		"a namespace":  {"namespace", ns},
		"at once":      {"pod/pod", "--force"},
		"now":          {"pod/pod", "--now"},
	}
	policies := []string{"--cascade=background", "--cascade=foreground", "--cascade=orphan"}
	for i, name := range slices.Sorted(maps.Keys(roots)) {
		for j, policy := range policies {
			if !*every && (i+j)%len(policies) != 0 {
				continue
			}
			check(0, 0, 0, "", append(slices.Clone(roots[name]), policy, "--dry-run=client")...)
			check(0, 1, many, "", append(slices.Clone(roots[name]), policy, "--dry-run=server")...)
		}
	}
	for _, policy := range policies {
		several := append(slices.Clone(roots["several"]), policy)
		check(0, 0, 0, "", append(several, "--dry-run", "--yes")...)
		check(0, 3, 6, "", append(several, "--dry-run=server", "--yes", "--wait=false")...)
		// Not confirmed: without a terminal, and with another answer than yes.
		check(2, 0, 3, "y\n", several...)
		check(2, 0, 3, "n\n", append(several, "-i")...)
	}
	for _, format := range []string{"json", "yaml", "name", "wide", "jsonpath={.roots}"} {
		check(0, 0, 0, "", append(roots["several"], "-o", format, "--dry-run=client")...)
		check(0, 6, 6, "", append(roots["several"], "-o", format, "--dry-run=server")...)
		check(2, 0, many, "", append(roots["several"], "-o", format)...)
	}
	check(1, 0, 0, "", "configmap/owner", "configmap/none", "--dry-run=client")
	check(1, 1, 4, "", "configmap/owner", "configmap/none", "--dry-run=server")
	// Bad input is found before anything is asked.
	for _, bad := range [][]string{{"--archive", "-"}, {"--archive", file}, {"--dry-run=maybe"}, {"--cascade", "orphan"},
		{"--now", "--force", "--grace-period=4"}} {
		check(1, 0, 0, "", append([]string{"configmap/owner", "--yes"}, bad...)...)
	}
	// A gap in which a dependent can be hidden.
	proxy.On(faultproxy.Path("/secrets"), faultproxy.Status(403, metav1.StatusReasonForbidden, "you may not"))
	for _, policy := range policies {
		check(2, 0, 0, "", "configmap/owner", "--yes", policy)
		check(2, 0, 0, "", "configmap/owner", "--yes", "-o", "json", policy)
		check(0, 1, 3, "", "configmap/owner", "--dry-run=server", policy)
	}
	if after := versions(t, c, ns); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}
