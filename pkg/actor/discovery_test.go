package actor

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestControllerOfATypeThatDiscoveryHidesIsNotAbsent: a Deployment that was looked for where
// discovery does not show Deployments is not absent.
func TestControllerOfATypeThatDiscoveryHidesIsNotAbsent(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	known := fixture.Pack(t, "example.com/bucket",
		"deployments: ['"+ns+"/op', '*/op-of-"+ns+"'], labels: ['app=op-"+ns+"']")
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
			a := find(t, finderOf(t, proxy.Config(), known), "example.com/bucket", nil)
			if a.Life != Unknown || a.NotFound() != test.looked {
				t.Errorf("%s, not found %t, want %t: %q", a.Life, a.NotFound(), test.looked, a.Says())
			}
			if says := strings.Join(a.Says(), "\n"); !test.looked &&
				!strings.Contains(says, "discovery does not show deployments.apps") {
				t.Errorf("the evidence does not say what could not be looked at: %s", says)
			}
		})
	}
}
