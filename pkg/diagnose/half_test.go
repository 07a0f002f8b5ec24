package diagnose

import (
	"context"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestHalfDeletedBehindAPolicy: another DELETE would end it, and a policy denies that, which comes
// first.
func TestHalfDeletedBehindAPolicy(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	finalize(t, c, ns)
	deleted(t, c, "namespace", ns)
	client := answering(t, func(map[string]any) (string, []map[string]any) { return "not this one", nil })
	manifest := webhookOnNamespace(ns, client)
	registered(t, c, "validating", ns, manifest, fails(c, "delete", "namespace", ns, "--dry-run=server"))
	d := examine(t, c.Config(), Options{}, ns, subject{"namespaces/" + ns, ""})
	wantCauses(t, d, map[string][]string{"Namespace/" +
		ns: {"AdmissionDenied ValidatingWebhookConfiguration/" + ns, "HalfDeleted Namespace/" + ns}})
	if after := d.Stuck[0].Causes[1].After; after != 1 {
		t.Errorf("the second comes up after %d others, want 1", after)
	}
	c.Kubectl(t, "delete", "validatingwebhookconfiguration", ns)
	testcluster.Eventually(t, "the namespace can be deleted", eventuallyRuns(c, "delete", "namespace", ns))
}

// webhookOnNamespace writes a webhook configuration for the deletion of one namespace.
func webhookOnNamespace(name, client string) string {
	return strings.NewReplacer("resources: [configmaps, pods]",
		"resources: [namespaces]").Replace(webhook("Validating", name, "DELETE", client))
}

// eventuallyRuns reports whether a kubectl command does not fail any more.
func eventuallyRuns(c *testcluster.Cluster, args ...string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) { return !fails(c, args...)(ctx), nil }
}
