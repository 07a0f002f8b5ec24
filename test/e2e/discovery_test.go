package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// leaseOf is a Lease that a config map owns.
func leaseOf(t *testing.T, c *testcluster.Cluster, ns, name, owner string) string {
	t.Helper()
	return fmt.Sprintf("---\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: %s%s}\n", name,
		ownedBy(owner, uidOf(t, c, ns, owner), ""))
}

// TestHiddenTypeIsAGapInEveryCommand_API056: discovery does not show Leases, once or always. No
// command says that it has seen everything, or does what would cost the Lease its life; and when
// discovery shows them again, the Lease is kept.
func TestHiddenTypeIsAGapInEveryCommand_API056(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, fault := range map[string]faultproxy.Fault{
		"a version without resources": faultproxy.EmptyVersion("coordination.k8s.io", "v1"),
		"no such group":               faultproxy.WithoutGroup("coordination.k8s.io"),
		"APIServices are hidden, too": both(faultproxy.WithoutGroup("coordination.k8s.io"),
			faultproxy.EmptyVersion("apiregistration.k8s.io", "v1")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			c.Apply(t, configMap("orphaning", "")+configMap("other", "")+
				configMap("waiting", ", finalizers: [example.com/hold]"), "-n", ns)
			c.Apply(t, leaseOf(t, c, ns, "kept", "orphaning")+leaseOf(t, c, ns, "dependent", "other"), "-n", ns)
			c.Kubectl(t, "delete", "configmap", "orphaning", "-n", ns, "--cascade=orphan", "--wait=false")
			for _, once := range []bool{false, true} {
				for _, test := range []struct {
					args     string
					code     int
					complete bool // whether the output has the key
				}{
					{"tree configmap/orphaning -o json", 0, true},
					{"tree -o json", 0, true},
					{"delete configmap/other --dry-run=client -o json", 0, true},
					{"delete configmap/other --yes", 2, false},
					{"run --dry-run -o json", 2, true},
					{"run --yes", 2, false},
					{"why --older-than 0s -o json", 2, true},
					{"why configmap/other -o json", 2, true},
					{"unfinalize configmap/orphaning --finalizer orphan --yes --force --force-live", 2, false},
				} {
					proxy := faultproxy.Start(t, c.Config())
					if once {
						proxy.On(faultproxy.Groups, faultproxy.Times(1, fault))
					} else {
						proxy.On(faultproxy.Groups, fault)
					}
					if verb, _, _ := strings.Cut(test.args, " "); once && (verb == "run" || verb == "unfinalize") {
						continue // which ask discovery again before they list: see below
					}
					r := run(t, append(strings.Fields(test.args), "-n", ns, "--kubeconfig", proxy.Kubeconfig(t))...)
					if r.code != test.code {
						t.Errorf("%s (once: %t): exit code %d, want %d\n%s\n%s", test.args, once, r.code, test.code, r.stdout, r.stderr)
					}
					if test.complete {
						var out struct {
							Complete *bool
							Gaps     []any
						}
						if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || out.Complete == nil || *out.Complete ||
							len(out.Gaps) == 0 {
							t.Errorf("%s (once: %t): complete is not false, or there is no gap: %v\n%s", test.args, once, err, r.stdout)
						}
					}
				}
			}
			for _, object := range []string{"configmap/orphaning", "configmap/other", "lease/kept", "lease/dependent"} {
				c.Kubectl(t, "get", object, "-n", ns)
			}
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(faultproxy.Groups, faultproxy.Times(1, fault))
			kubeconfig := proxy.Kubeconfig(t)
			for range 3 {
				run(t, "run", "--yes", "-n", ns, "--kubeconfig", kubeconfig)
			}
			c.Kubectl(t, "get", "lease/kept", "-n", ns)
			if left := c.Kubectl(t, "get", "configmap", "orphaning", "-n", ns, "--ignore-not-found"); left != "" {
				t.Errorf("the owner was not released at all: %s", left)
			}
		})
	}
}

// both applies one fault after the other to an answer.
func both(first, second faultproxy.Fault) faultproxy.Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		second(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { first(w, r, next) }))
	}
}

// TestNoCommandWorksWithoutTheCoreGroup_RO013: it would say that it has seen everything, and no pod
// was among it.
func TestNoCommandWorksWithoutTheCoreGroup_RO013(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMap("one", ", finalizers: [example.com/hold]"), "-n", ns)
	t.Cleanup(func() { patch(t, c, ns, "one", `{"metadata":{"finalizers":null}}`) })
	c.Kubectl(t, "delete", "configmap", "one", "-n", ns, "--wait=false")
	for name, fault := range map[string]faultproxy.Fault{
		"not served": faultproxy.Plain(http.StatusNotFound, "404 page not found"),
		"empty":      faultproxy.NoGroups(),
	} {
		for _, args := range []string{
			"tree", "tree configmap/one -o json", "delete configmap/one --yes", "delete configmap --all --yes", "run --yes",
			"run --dry-run", "why -o json",
			"unfinalize configmap/one --finalizer example.com/hold --yes",
			"unfinalize --all-stuck --finalizer example.com/hold --yes",
		} {
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(faultproxy.Core, fault)
			r := run(t, append(strings.Fields(args), "-n", ns, "--kubeconfig", proxy.Kubeconfig(t))...)
			if r.code != 1 || r.stdout != "" || !strings.Contains(r.stderr, "discovery shows no namespaces") {
				t.Errorf("%s, %s: exit code %d, stdout %q, stderr %q", name, args, r.code, r.stdout, r.stderr)
			}
			for _, request := range proxy.Requests() {
				if request.Method != http.MethodGet && request.Method != http.MethodPost {
					t.Errorf("%s, %s: %s %s was sent", name, args, request.Method, request.Path)
				}
			}
		}
	}
}

// TestHiddenKindIsNotTakenForGone_X03: neither its own group, nor the types that say which groups
// there are.
func TestHiddenKindIsNotTakenForGone_X03(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	owner := ", ownerReferences: [{apiVersion: unheard.example.com/v1, kind: Thing, name: nobody, uid: 11111111-0000-4000-8000-000000000003}]"
	c.Apply(t, configMap("dependent", owner), "-n", ns)
	for name, fault := range map[string]faultproxy.Fault{
		"its group is empty":          faultproxy.EmptyVersion("unheard.example.com", "v1"),
		"CRDs are hidden":             faultproxy.WithoutGroup("apiextensions.k8s.io"),
		"CRDs are not shown":          faultproxy.WithoutResource("apiextensions.k8s.io", "customresourcedefinitions"),
		"APIServices are hidden":      faultproxy.WithoutGroup("apiregistration.k8s.io"),
		"APIServices have no version": faultproxy.EmptyVersion("apiregistration.k8s.io", "v1"),
	} {
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(faultproxy.Groups, fault)
		r := run(t, "run", "--yes", "--treat-kind-as-gone", "unheard.example.com/v1/Thing", "-n", ns, "--kubeconfig",
			proxy.Kubeconfig(t))
		if r.code != 2 || !strings.Contains(r.stderr, "cannot find out whether the kind is served") {
			t.Errorf("%s: exit code %d\n%s\n%s", name, r.code, r.stdout, r.stderr)
		}
	}
	c.Kubectl(t, "get", "configmap/dependent", "-n", ns)
}
