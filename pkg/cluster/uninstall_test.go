package cluster

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// uninstall deletes a CRD at a test's end and waits until discovery does not show its type any
// more: the next test would find a type that cannot be listed. A CRD whose instances cannot be
// converted stays, and so does its type.
func uninstall(t *testing.T, c *testcluster.Cluster, plural, group string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
	defer cancel()
	c.Kubectl(t, "delete", "crd", plural+"."+group, "--wait=false")
	if _, err := c.Try(ctx, "", "wait", "--for=delete", "crd/"+plural+"."+group, "--timeout=3s"); err != nil {
		return
	}
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	shown := func() bool {
		catalog, err := client.WithFreshDiscovery().Discover(ctx)
		return err != nil || slices.ContainsFunc(catalog.Resources,
			func(r Resource) bool { return r.Group == group && r.Resource == plural })
	}
	for shown() {
		select {
		case <-ctx.Done():
			t.Fatalf("discovery shows %s.%s after its CRD is gone", plural, group)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
