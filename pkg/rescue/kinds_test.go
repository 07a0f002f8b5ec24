package rescue_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/rescue"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// planned plans the rescue of a named object in a namespace.
func planned(t *testing.T, c *testcluster.Cluster, namespace, name string,
	overrides unfinalize.Overrides) (*selection.Query, *rescue.Planned) {
	t.Helper()
	config, client, catalog := fixture.ConnectFlags(t, c.Kubeconfig())
	q, err := selection.NewQuery(t.Context(), config, client, catalog,
		selection.Request{Namespace: namespace, Args: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := rescue.Plan(t.Context(), q, fixture.Packs(t),
		rescue.Request{Archive: filepath.Join(t.TempDir(), "archive.yaml"), Overrides: overrides})
	if err != nil {
		t.Fatal(err)
	}
	return q, p
}

// refuses reports whether a plan refuses for a reason.
func refuses(p *rescue.Planned, code unfinalize.Code) bool {
	return slices.ContainsFunc(p.Against(), func(r unfinalize.Refusal) bool { return r.Code == code })
}

const complete = `{"status":{"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:01:00Z","conditions":[
  {"type":"SuccessCriteriaMet","status":"True","lastTransitionTime":"2026-01-01T00:01:00Z"},{"type":"Complete","status":"True","lastTransitionTime":"2026-01-01T00:01:00Z"}]}}`

// TestWhatANewObjectWouldDoOnceMoreNeedsForce: a Job runs again, or beside itself, and the tokens
// of a ServiceAccount become invalid. The plan says so with --force, too.
func TestWhatANewObjectWouldDoOnceMoreNeedsForce(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "collector off", testcluster.NoControllers())
	namespace := c.Namespace(t)
	job := func(name, spec string) {
		c.Apply(t, `{apiVersion: batch/v1, kind: Job, metadata: {name: `+name+`, namespace: `+namespace+`, finalizers: [`+hold+`]},
  spec: {`+spec+`template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}`)
	}
	job("finished", "")
	c.Kubectl(t, "patch", "job", "finished", "-n", namespace, "--subresource=status", "--type=merge", "-p", complete)
	job("running", "")
	job("suspended", "suspend: true, ")
	c.Apply(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: account, namespace: `+namespace+`, finalizers: [`+
		hold+`]}}`)
	c.Apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: plain, namespace: `+namespace+`, finalizers: [`+
		hold+`]}}`)
	for name, want := range map[string]unfinalize.Code{
		"job/finished": rescue.RunsAgain, "job/running": rescue.RunsAgain, "sa/account": rescue.InvalidatesTokens,
		"job/suspended": "", "cm/plain": "",
	} {
		c.Kubectl(t, "delete", name, "-n", namespace, "--wait=false", "--cascade=background")
		t.Cleanup(func() {
			c.Kubectl(t, "patch", name, "-n", namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		})
		_, p := planned(t, c, namespace, name, unfinalize.Overrides{})
		for _, code := range []unfinalize.Code{rescue.RunsAgain, rescue.InvalidatesTokens} {
			if refuses(p, code) != (code == want) {
				t.Errorf("%s: %s: %v", name, code, p.Against())
			}
		}
		_, p = planned(t, c, namespace, name, force)
		if len(p.Against()) > 0 || want != "" && len(p.Refusals) != 1 {
			t.Errorf("%s with --force: %v, of %v", name, p.Against(), p.Refusals)
		}
	}
}

// TestAServiceWhoseAddressIsTakenComesBackWithAnother, and says so.
func TestAServiceWhoseAddressIsTakenComesBackWithAnother(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	namespace := c.Namespace(t)
	c.Apply(t, `{apiVersion: v1, kind: Service, metadata: {name: web, namespace: `+namespace+`, finalizers: [`+hold+
		`]}, spec: {ports: [{port: 80}]}}`)
	ip := c.Kubectl(t, "get", "service", "web", "-n", namespace, "-o", "jsonpath={.spec.clusterIP}")
	c.Kubectl(t, "delete", "service", "web", "-n", namespace, "--wait=false")
	q, p := planned(t, c, namespace, "service/web", force)
	out := rescue.Perform(t.Context(), q, fixture.Packs(t), p,
		rescue.Options{OnEvent: func(e plan.Event) {
			if e.Action.Verb == plan.VerbRemoveFinalizer {
				c.Kubectl(t, "wait", "--for=delete", "service/web", "-n", namespace)
				c.Apply(t, `{apiVersion: v1, kind: Service, metadata: {name: other, namespace: `+namespace+`}, spec: {clusterIP: "`+
					ip+`", ports: [{port: 80}]}}`)
			}
		}})
	if out.Err != nil || len(out.Skipped) != 1 || !strings.Contains(out.Skipped[0].Because, "with another address") {
		t.Errorf("%v, %v", out.Err, out.Skipped)
	}
	if now := c.Kubectl(t, "get", "service", "web", "-n", namespace, "-o", "jsonpath={.spec.clusterIP}"); now == "" ||
		now == ip {
		t.Errorf("it has the address %q, had %q", now, ip)
	}
	c.Kubectl(t, "patch", "service", "web", "-n", namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
}

// TestAnArchiveOfAClusterThatIsNotKnownNeedsForce: its uids may say nothing here.
func TestAnArchiveOfAClusterThatIsNotKnownNeedsForce(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.delete("background")
	if out := s.rescue(dies(t, s.c, 0, false).Kubeconfig(t), force, rescue.Options{}); out.Err == nil {
		t.Fatal("it was not killed")
	}
	here := s.c.Kubectl(t, "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
	archived, err := os.ReadFile(s.archive)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.archive, bytes.ReplaceAll(archived, []byte("cluster: "+here+"\n"), nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, p, err := s.plan(s.c.Kubeconfig(), unfinalize.Overrides{}); err != nil || !refuses(p, rescue.UnknownCluster) {
		t.Errorf("%v, against it is %v", err, p.Against())
	}
	s.untouched()
	if out := s.rescue(s.c.Kubeconfig(), force, rescue.Options{}); out.Err != nil {
		t.Fatal(out.Err)
	}
	s.rescued()
}
