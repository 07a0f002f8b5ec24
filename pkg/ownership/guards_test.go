package ownership_test

import (
	"context"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownership"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var services = graph.Type{Version: "v1", Resource: "services", Kind: "Service", Namespaced: true}

// TestAnObjectIsKeptAsLongAsOneOfItsGuardsIsThere: they are listed once, and a deletion can take
// minutes, in which they go one after the other.
func TestAnObjectIsKeptAsLongAsOneOfItsGuardsIsThere(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	for _, name := range []string{"one", "two"} {
		c.Apply(t, `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, endpoints: [],
metadata: {name: `+name+`, namespace: `+ns+`, labels: {kubernetes.io/service-name: web}}}`)
	}
	client, catalog := fixture.Connect(t, c.Config())
	client = ownership.Guarded(client, cluster.NewReader(client, catalog), definitions(t))

	ended, end := context.WithCancel(t.Context())
	end()
	if unasked := cluster.Unasked(client.MayDryRun(ended, services, ns, "web")); unasked == nil || unasked.Refused {
		t.Errorf("guards that could not be listed: %+v", unasked)
	}
	for _, guard := range []string{"one", "two"} {
		unasked := cluster.Unasked(client.MayDryRun(t.Context(), services, ns, "web"))
		if unasked == nil || !unasked.Refused || unasked.Guard != "EndpointSlice "+ns+"/"+guard {
			t.Errorf("while %s is there: %+v", guard, unasked)
		}
		c.Kubectl(t, "delete", "endpointslice", guard, "-n", ns)
	}
	if err := client.MayDryRun(t.Context(), services, ns, "web"); err != nil {
		t.Errorf("when both are gone: %v", err)
	}
}
