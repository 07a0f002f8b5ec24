package e2e

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const release = `{"metadata":{"finalizers":null}}`

// TestWaitBesideTheControllers are waits during which something happens.
func TestWaitBesideTheControllers(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.Controllers(testcluster.Collector, "namespace-controller"))
	t.Run("until a finalizer is removed from a dependent", func(t *testing.T) { t.Parallel(); waitForAFinalizer(t, c) })
	t.Run("until a namespace is empty", func(t *testing.T) { t.Parallel(); waitForANamespace(t, c) })
	t.Run("an object in a namespace that is being deleted", func(t *testing.T) { t.Parallel(); waitForContent(t, c) })
	t.Run("an object that is created again", func(t *testing.T) { t.Parallel(); waitForARecreated(t, c) })
	t.Run("a dependent that loses its owner", func(t *testing.T) { t.Parallel(); waitForAReleased(t, c) })
	t.Run("what is left of an owner that is gone", func(t *testing.T) { t.Parallel(); waitForTheRest(t, c) })
	t.Run("until it is interrupted", func(t *testing.T) { t.Parallel(); waitInterrupted(t, c) })
	t.Run("with names", func(t *testing.T) { t.Parallel(); waitWithNames(t, c) })
}

// waiting starts kubectl gc wait and returns when it has listed what it waits for.
func waiting(t *testing.T, c *testcluster.Cluster, begins string, args ...string) *process {
	t.Helper()
	p := start(t, append([]string{"wait", "--kubeconfig", c.Kubeconfig(), "--timeout=1m"}, args...)...)
	p.until(&p.stdout, begins)
	return p
}

func wantEnd(t *testing.T, p *process, code int, stdout ...string) {
	t.Helper()
	if got := p.code(); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	for _, text := range stdout {
		if !strings.Contains(p.stdout.String(), text+"\n") {
			t.Errorf("stdout lacks %q", text)
		}
	}
	if t.Failed() {
		t.Logf("stdout: %s\nstderr: %s", &p.stdout, &p.stderr)
	}
}

func waitForAFinalizer(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	c.Apply(t, configMap("owner", "")+configMap("other", ""), "-n", ns)
	owner, other := uidOf(t, c, ns, "owner"), uidOf(t, c, ns, "other")
	c.Apply(t, configMap("held", ownedBy("owner", owner, ", blockOwnerDeletion: true")+", finalizers: [example.com/hold]")+
		configMap("shared", `, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: `+owner+
			`}, {apiVersion: v1, kind: ConfigMap, name: other, uid: `+other+`}]`), "-n", ns)
	c.Apply(t, configMap("below", ownedBy("held", uidOf(t, c, ns, "held"), "")+", finalizers: [example.com/hold]"),
		"-n", ns)
	c.Kubectl(t, "delete", "configmap", "owner", "--cascade=foreground", "--wait=false", "-n", ns)
	p := waiting(t, c, "waiting until 3 objects are deleted: ConfigMap/below, ConfigMap/held, ConfigMap/owner\n",
		"configmap/owner", "-n", ns)
	patch(t, c, ns, "held", release)
	patch(t, c, ns, "below", release)
	wantEnd(t, p, 0, `configmap "held" deleted from `+ns+` namespace`, `configmap "below" deleted from `+ns+` namespace`,
		`configmap "owner" deleted from `+ns+` namespace`)
	if uidOf(t, c, ns, "shared") == "" || uidOf(t, c, ns, "below") != "" {
		t.Errorf("shared is gone, or below is not")
	}
}

func waitForANamespace(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	c.Apply(t, configMap("held", ", finalizers: [example.com/hold]"), "-n", ns)
	c.Kubectl(t, "delete", "namespace", ns, "--wait=false")
	p := waiting(t, c, "Namespace/"+ns, "namespace", ns)
	patch(t, c, ns, "held", release)
	wantEnd(t, p, 0, `configmap "held" deleted from `+ns+` namespace`, `namespace "`+ns+`" deleted`)
}

func waitForContent(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	c.Apply(t, configMap("held", ", finalizers: [example.com/hold]")+
		configMap("other", ", finalizers: [example.com/hold]"), "-n", ns)
	c.Kubectl(t, "delete", "namespace", ns, "--wait=false")
	p := waiting(t, c, "waiting until 1 object is deleted: ConfigMap/held\n", "configmap/held", "-n", ns)
	patch(t, c, ns, "held", release)
	wantEnd(t, p, 0, `configmap "held" deleted from `+ns+` namespace`)
	patch(t, c, ns, "other", release)
}

func waitForARecreated(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	c.Apply(t, configMap("again", ", labels: {app: again}, finalizers: [example.com/hold]"), "-n", ns)
	c.Kubectl(t, "delete", "configmap", "again", "--wait=false", "-n", ns)
	p := waiting(t, c, "waiting until 1 object is deleted: ConfigMap/again\n", "configmaps", "-l", "app=again", "-n", ns)
	patch(t, c, ns, "again", release)
	c.Apply(t, configMap("again", ", labels: {app: again}"), "-n", ns)
	wantEnd(t, p, 0, `configmap "again" deleted from `+ns+` namespace`)
	if uidOf(t, c, ns, "again") == "" {
		t.Error("the new one is gone")
	}
}

func waitForAReleased(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	c.Apply(t, configMap("owner", ", finalizers: [example.com/hold]"), "-n", ns)
	c.Apply(t, configMap("dependent", ownedBy("owner", uidOf(t, c, ns, "owner"), "")), "-n", ns)
	c.Kubectl(t, "delete", "configmap", "owner", "--wait=false", "-n", ns)
	p := waiting(t, c, "waiting until 1 object is deleted: ConfigMap/dependent\n", "configmap/dependent", "-n", ns)
	patch(t, c, ns, "dependent", `{"metadata":{"ownerReferences":null}}`)
	wantEnd(t, p, 0)
	if want := `configmap "dependent" in ` + ns + ` namespace is kept`; !strings.Contains(p.stderr.String(), want) {
		t.Errorf("stderr lacks %q: %s", want, &p.stderr)
	}
}

// waitForTheRest of a deletion in the background, whose root is gone at once.
func waitForTheRest(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	c.Apply(t, configMap("owner", ""), "-n", ns)
	c.Apply(t, configMap("held", ownedBy("owner", uidOf(t, c, ns, "owner"), "")+", finalizers: [example.com/hold]"),
		"-n", ns)
	c.Kubectl(t, "delete", "configmap", "owner", "-n", ns)
	p := waiting(t, c, `configmap "owner" in `+ns+
		" namespace does not exist\nwaiting until 1 object is deleted: ConfigMap/held\n", "configmap/owner", "-n", ns)
	patch(t, c, ns, "held", release)
	wantEnd(t, p, 0, `configmap "held" deleted from `+ns+` namespace`)
	p = start(t, "wait", "configmap/owner", "-n", ns, "--kubeconfig", c.Kubeconfig())
	wantEnd(t, p, 0, `configmap "owner" in `+ns+` namespace does not exist`)
}

func waitInterrupted(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	c.Apply(t, configMap("held", ", finalizers: [example.com/hold]"), "-n", ns)
	c.Kubectl(t, "delete", "configmap", "held", "--wait=false", "-n", ns)
	p := waiting(t, c, "ConfigMap/held\n", "configmap/held", "-n", ns)
	p.signal(os.Interrupt)
	wantEnd(t, p, 130)
	if want := "error: interrupted; not deleted yet: ConfigMap/held (finalizer example.com/hold)\n" +
		"hint: the cascade continues in the cluster; kubectl gc wait with the same objects waits for it\n"; !strings.Contains(
		p.stderr.String(), want) {
		t.Errorf("stderr lacks %q: %s", want, &p.stderr)
	}
	patch(t, c, ns, "held", release)
}

// waitWithNames: nothing but names is printed, and a Result has what was deleted.
func waitWithNames(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	for _, format := range []string{"name", "json"} {
		c.Apply(t, configMap("one", ", finalizers: [example.com/hold]")+configMap("two", ", finalizers: [example.com/hold]"),
			"-n", ns)
		c.Kubectl(t, "delete", "configmap", "one", "two", "--wait=false", "-n", ns)
		testcluster.Eventually(t, "they are being deleted", func(context.Context) (bool, error) {
			return c.Kubectl(t, "get", "configmap", "two", "-n", ns, "-o", "jsonpath={.metadata.deletionTimestamp}") != "", nil
		})
		p := start(t, "wait", "configmap/one", "configmap/two", "-n", ns, "--kubeconfig", c.Kubeconfig(), "-v=8",
			"-o", format)
		p.until(&p.stderr, "watch=true")
		patch(t, c, ns, "one", release)
		patch(t, c, ns, "two", release)
		wantEnd(t, p, 0)
		var got []string
		if format == "name" {
			got = strings.Fields(p.stdout.String())
		} else {
			var r v1alpha1.Result
			if err := json.Unmarshal([]byte(p.stdout.String()), &r); err != nil || !r.Complete {
				t.Errorf("complete %t, error %v", r.Complete, err)
			}
			for _, o := range r.Deleted {
				got = append(got, "configmap/"+o.Name)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, []string{"configmap/one", "configmap/two"}) {
			t.Errorf("-o %s: %q", format, got)
		}
	}
}

// TestWaitOfWhatMayNotBeListed: a list that is refused does not prove that anything is gone.
func TestWaitOfWhatMayNotBeListed(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMap("gone", "")+configMap("alive", ""), "-n", ns)
	c.Allow(t, ns, "reader-"+ns, []string{"get", "list", "watch"}, []string{"configmaps"})
	config := c.KubeconfigAs(t, "reader-"+ns)
	for name, test := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"one that may not be read": {[]string{"secret/nobody"}, 1,
			"Error from server (Forbidden): secrets \"nobody\" is forbidden"},
		"a type that may not be":    {[]string{"secrets", "--all"}, 1, "Forbidden"},
		"a type that is not served": {[]string{"nosuchtypes/one"}, 1, `the server doesn't have a resource type "nosuchtypes"`},
		"one that does not exist":   {[]string{"configmap/nobody"}, 0, ""},
		"a name that is mistyped":   {[]string{"configmap/alife"}, 0, "hint: did you mean"},
		"one whose owner and namespace may not be read": {[]string{"configmap/alive"}, 2,
			"not being deleted, so there is nothing to wait for: ConfigMap/alive; whether an owner or the namespace is being deleted is not known, because not all types could be listed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := script.InProcess(t.Context(), "",
				append([]string{"wait", "--kubeconfig", config, "-n", ns, "--timeout=5s"}, test.args...)...)
			if code != test.code || !strings.Contains(stderr, test.stderr) {
				t.Errorf("exit code %d, want %d\nstdout: %s\nstderr: %s", code, test.code, stdout, stderr)
			}
		})
	}
	t.Run("whose dependent has an owner that may not be read", func(t *testing.T) {
		t.Parallel()
		c.Apply(t, configMap("owner", ""), "-n", ns)
		c.Kubectl(t, "create", "secret", "generic", "other", "-n", ns)
		secret := c.Kubectl(t, "get", "secret", "other", "-n", ns, "-o", "jsonpath={.metadata.uid}")
		c.Apply(t, configMap("dependent", `, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: `+uidOf(t, c, ns, "owner")+`, blockOwnerDeletion: true},
			{apiVersion: v1, kind: Secret, name: other, uid: `+secret+`}]`), "-n", ns)
		c.Kubectl(t, "delete", "configmap", "owner", "--cascade=foreground", "--wait=false", "-n", ns)
		p := start(t, "wait", "configmap/owner", "--kubeconfig", config, "-n", ns, "--timeout=3s", "--allow-incomplete")
		wantEnd(t, p, 2)
		if errs := p.stderr.String(); !strings.Contains(errs, "timed out after 3s; not deleted yet: ConfigMap/owner") ||
			strings.Contains(errs, "cannot complete") {
			t.Errorf("it concludes from what it has not seen: %s", errs)
		}
	})
	t.Run("whose dependents may be hidden", func(t *testing.T) {
		t.Parallel()
		patch(t, c, ns, "gone", `{"metadata":{"finalizers":["example.com/hold"]}}`)
		c.Kubectl(t, "delete", "configmap", "gone", "--wait=false", "-n", ns)
		for _, more := range [][]string{nil, {"--allow-incomplete"}} {
			p := start(t, append([]string{"wait", "configmap/gone", "--kubeconfig", config, "-n", ns, "--timeout=3s"},
				more...)...)
			wantEnd(t, p, 2)
		}
		p := start(t, "wait", "configmap/gone", "--kubeconfig", config, "-n", ns)
		allowed := start(t, "wait", "configmap/gone", "--kubeconfig", config, "-n", ns, "--allow-incomplete")
		p.until(&p.stdout, "waiting until")
		allowed.until(&allowed.stdout, "waiting until")
		patch(t, c, ns, "gone", release)
		wantEnd(t, p, 2)
		wantEnd(t, allowed, 0)
		if !strings.Contains(p.stderr.String(),
			"all objects that were found are deleted, but types that may contain dependents could not be listed") {
			t.Errorf("stderr: %s", &p.stderr)
		}
	})
}
