package actor

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestControllerOfATypeThatDiscoveryHidesIsNotAbsent: a Deployment that was looked for where discovery does not show Deployments is not absent.
func TestControllerOfATypeThatDiscoveryHidesIsNotAbsent(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	known := fixture.Pack(t, "example.com/bucket", "deployments: ['"+ns+"/op', '*/op-of-"+ns+"'], labels: ['app=op-"+ns+"']")
	for name, test := range map[string]struct {
		fault  faultproxy.Fault
		looked bool // everything was looked at
	}{
		"shown":          {nil, true},
		"an empty group": {faultproxy.EmptyVersion("apps", "v1"), false},
		"no such group":  {faultproxy.WithoutGroup("apps"), false},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := faultproxy.Start(t, c.Config())
			if test.fault != nil {
				proxy.On(faultproxy.Groups, test.fault)
			}
			client, err := cluster.New(proxy.Config(), 0)
			if err != nil {
				t.Fatal(err)
			}
			catalog, err := client.Discover()
			if err != nil {
				t.Fatal(err)
			}
			o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
			a, err := NewFinder(cluster.NewReader(client, catalog), known).Of(t.Context(), o, "example.com/bucket")
			if err != nil {
				t.Fatal(err)
			}
			if a.Life != Unknown || a.NotFound() != test.looked {
				t.Errorf("%s, not found %t, want %t: %q", a.Life, a.NotFound(), test.looked, a.Says())
			}
			if says := strings.Join(a.Says(), "\n"); !test.looked && !strings.Contains(says, "discovery does not show deployments.apps") {
				t.Errorf("the evidence does not say what could not be looked at: %s", says)
			}
		})
	}
}
