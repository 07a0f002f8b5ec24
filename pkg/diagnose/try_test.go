package diagnose

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// silent serves a webhook that never answers, and returns the clientConfig with which it is
// reached.
func silent(t testing.TB) string {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-t.Context().Done():
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return fmt.Sprintf(`{url: "%s/hook", caBundle: %s}`, server.URL, base64.StdEncoding.EncodeToString(bundle))
}

// TestSilentWebhookIsCalledOnce, however many objects it would be called for, and all of them are
// told.
func TestSilentWebhookIsCalledOnce(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := operated(t, c, ns)
	names := heldMany(t, c, ns, 40)
	manifest := strings.Replace(webhook("Validating", ns, "UPDATE", silent(t)), "  sideEffects: None\n",
		"  sideEffects: None\n  timeoutSeconds: 1\n", 1)
	registered(t, c, "validating", ns, manifest,
		fails(c, "patch", "configmap", names[0], "--type=merge", "-p", `{"metadata":{"labels":{"try":"me"}}}`,
			"--dry-run=server", "-n", ns))
	proxy := faultproxy.Start(t, c.Config())
	d := examine(t, proxy.Config(), Options{Known: operator}, ns)
	want := map[string][]string{}
	for _, name := range names {
		want["ConfigMap/"+name] = []string{"AdmissionWebhookDown ValidatingWebhookConfiguration/" + ns}
	}
	wantCauses(t, d, want)
	if n := proxy.Count(http.MethodPatch, ""); n != 1 {
		t.Errorf("%d objects were tried, want 1", n)
	}
	first := d.Stuck[0].Causes[0].Evidence
	wantEvidence(t, d.Stuck[0].Causes[0], "it was called once, about ConfigMap "+ns+"/held-")
	for _, s := range d.Stuck {
		if strings.Join(s.Causes[0].Evidence, "\n") != strings.Join(first, "\n") {
			t.Errorf("%s: the evidence is %q, want %q", s.Object.Name, s.Causes[0].Evidence, first)
		}
	}
}

// TestSilentWebhookIsNotBlamedForOthers: what it is not called for is tried, and so is what it may
// not be called for if it fails at once.
func TestSilentWebhookIsNotBlamedForOthers(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := operated(t, c, ns)
	names := heldMany(t, c, ns, 3)
	c.Apply(t, fmt.Sprintf(
		"apiVersion: v1\nkind: Service\nmetadata: {name: lb, namespace: %s, finalizers: [example.com/held]}\nspec: {ports: [{port: 80}]}\n", ns))
	fixture.Free(t, c, ns, "service/lb")
	deleted(t, c, "service", "lb", "-n", ns)
	only := "  matchConditions: [{name: one, expression: \"request.name == 'held-01'\"}]\n"
	manifest := strings.Replace(webhook("Validating", ns, "UPDATE", toService(ns)), "  sideEffects: None\n",
		"  sideEffects: None\n"+only, 1)
	registered(t, c, "validating", ns, manifest, func(ctx context.Context) bool {
		return fails(c, "patch", "configmap", "held-01", "--type=merge", "-p", `{"metadata":{"labels":{"try":"me"}}}`,
			"--dry-run=server", "-n", ns)(ctx)
	})
	d := examine(t, c.Config(), Options{Known: operator}, ns)
	wantCauses(t, d, map[string][]string{
		"ConfigMap/" + names[0]: {"FinalizerActorAlive ConfigMap/" + names[0]},
		"ConfigMap/" + names[1]: {"AdmissionWebhookDown ValidatingWebhookConfiguration/" + ns},
		"ConfigMap/" + names[2]: {"FinalizerActorAlive ConfigMap/" + names[2]},
		"Service/lb":            {"FinalizerActorAlive Service/lb"},
	})
}

// TestSilentWebhookThatIsIgnored: the server waits for it each time and says nothing of that. One
// object is tried, and the others are counted.
func TestSilentWebhookThatIsIgnored(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := operated(t, c, ns)
	heldMany(t, c, ns, 10)
	manifest := strings.Replace(webhook("Validating", ns, "UPDATE", silent(t)), "  sideEffects: None\n",
		"  sideEffects: None\n  timeoutSeconds: 1\n  failurePolicy: Fail\n", 1)
	update := []string{"patch", "configmap", "held-00", "--type=merge", "-p", `{"metadata":{"labels":{"try":"me"}}}`,
		"--dry-run=server", "-n", ns}
	registered(t, c, "validating", ns, manifest, fails(c, update...))
	c.Apply(t, strings.Replace(manifest, "failurePolicy: Fail", "failurePolicy: Ignore", 1))
	testcluster.Eventually(t, "it is ignored",
		func(ctx context.Context) (bool, error) { return !fails(c, update...)(ctx), nil })
	proxy := faultproxy.Start(t, c.Config())
	d := examine(t, proxy.Config(), Options{Known: operator}, ns)
	if n := proxy.Count(http.MethodPatch, ""); n != 1 || d.NotLookedAt != 9 {
		t.Errorf("%d objects were tried and %d not looked at, want 1 and 9", n, d.NotLookedAt)
	}

	// Whether what was not tried would be accepted is not known.
	c.Apply(t, fixture.ConfigMap(ns, "live-a")+fixture.ConfigMap(ns, "live-b"))
	c.Apply(t, strings.Replace(strings.Replace(manifest, "failurePolicy: Fail", "failurePolicy: Ignore", 1), "[UPDATE]",
		"['*']", 1))
	testcluster.Eventually(t, "it is called for deletions", func(context.Context) (bool, error) {
		d = examine(t, c.Config(), Options{Known: operator}, ns, subject{"configmaps/live-a", ns},
			subject{"configmaps/live-b", ns})
		return d.NotLookedAt > 0, nil
	})
	tried := 0
	for _, s := range d.Stuck {
		if s.Causes[0].Evidence[1] == "the server would accept a DELETE" {
			tried++
		} else {
			wantEvidence(t, s.Causes[0], "whether the server would accept a DELETE was not tried")
		}
	}
	if tried != 1 {
		t.Errorf("%d of 2 deletions were said to be accepted, want 1", tried)
	}
}

// TestDeletionsAreBounded in all, and the first of each type and namespace is tried in any case.
func TestDeletionsAreBounded(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.Deployment(ns, "d1", 0)+fixture.Deployment(ns, "d2", 0))
	for i := range 6 {
		c.Apply(t, fixture.ConfigMap(ns, fmt.Sprintf("c%d", i)))
	}
	deleted(t, c, "namespace", ns)
	proxy := faultproxy.Start(t, c.Config())
	d := examine(t, proxy.Config(), Options{limits: core.Limits{Deletions: 4}}, ns, subject{"namespaces/" + ns, ""})
	tried := map[string]int{}
	for _, r := range proxy.Requests() {
		if r.Method == http.MethodDelete {
			tried[r.Path[:strings.LastIndex(r.Path, "/")]]++
		}
	}
	if n := tried["/apis/apps/v1/namespaces/"+ns+"/deployments"]; n == 0 || len(tried) != 2 {
		t.Errorf("tried %v, want some of each type", tried)
	}
	if total := proxy.Count(http.MethodDelete, ""); total > 5 || d.NotLookedAt != 8-total {
		t.Errorf("%d deletions were tried and %d objects not looked at", total, d.NotLookedAt)
	}
}

// TestSilentWebhookOnDelete is called once too.
func TestSilentWebhookOnDelete(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "root"))
	for i := range 10 {
		owned(t, c, ns, fmt.Sprintf("d%d", i), "root", true)
	}
	fixture.Free(t, c, ns, "configmap/root")
	deleted(t, c, "configmap", "root", "-n", ns, "--cascade=foreground")
	manifest := strings.Replace(webhook("Validating", ns, "DELETE", silent(t)), "  sideEffects: None\n",
		"  sideEffects: None\n  timeoutSeconds: 1\n", 1)
	registered(t, c, "validating", ns, manifest, fails(c, "delete", "configmap", "d0", "-n", ns, "--dry-run=server"))
	proxy := faultproxy.Start(t, c.Config())
	d := examine(t, proxy.Config(), Options{}, ns, subject{"configmaps/root", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/root": {"AdmissionWebhookDown ValidatingWebhookConfiguration/" + ns}})
	if n := proxy.Count(http.MethodDelete, ""); n != 1 {
		t.Errorf("%d deletions were tried, want 1", n)
	}
}
