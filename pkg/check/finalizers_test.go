package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestEachObjectWhoseActorMayBeAnotherIsJudged: the operator of tenant b is scaled to 0, and the
// objects of tenant a come first. Those that are not judged are counted.
func TestEachObjectWhoseActorMayBeAnotherIsJudged(t *testing.T) {
	l, c := newLive(t), testcluster.Shared(t)
	manifests := new(strings.Builder)
	for i := range 12 {
		manifests.WriteString(fixture.ConfigMap(l.Namespace, fmt.Sprintf("cm%02d", i), "shard.example.com/x"))
		fixture.Free(t, c, l.Namespace, fmt.Sprintf("configmaps/cm%02d", i))
	}
	c.Apply(t, manifests.String()+fixture.Deployment(l.Namespace, "a", 1)+fixture.Deployment(l.Namespace, "b", 0))
	c.Kubectl(t, "label", "configmaps", "--all", "-n", l.Namespace, "app=a")
	c.Kubectl(t, "label", "configmaps/cm10", "configmaps/cm11", "-n", l.Namespace, "app=b", "--overwrite")
	c.Kubectl(t, "patch", "deployment/a", "-n", l.Namespace, "--subresource=status", "--type=merge", "-p",
		`{"status":{"observedGeneration":1,"replicas":1,"readyReplicas":1}}`)
	known := fixture.Pack(t, "shard.example.com/x",
		"deployments: ['"+l.Namespace+"/a', '"+l.Namespace+"/b'], instance: {label: app}")
	proxy := faultproxy.Start(t, c.Config())
	client, catalog := fixture.Connect(t, proxy.Config())
	of := func(most int) (dead, left int, complete bool) {
		q := &selection.Query{Client: client, Catalog: catalog, Namespace: l.Namespace}
		report, err := check.Run(t.Context(), q, check.Options{Known: known, MaxFinalizers: most})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			if f.Code == string(check.FinalizerActorDead) && f.Object.Name == "cm10" {
				dead = f.Count
			}
		}
		return dead, report.NotLookedAt, report.Complete
	}
	if dead, left, complete := of(0); dead != 2 || left != 0 || !complete {
		t.Errorf("all: of %d the actor is dead, %d were not looked at, complete: %t", dead, left, complete)
	}
	if dead, left, complete := of(3); dead != 0 || left != 9 || complete {
		t.Errorf("three: of %d the actor is dead, %d were not looked at, complete: %t", dead, left, complete)
	}
	proxy.On(faultproxy.Path("/configmaps/cm00"), faultproxy.Status(500, "InternalError", "not this one"))
	if dead, left, complete := of(0); dead != 2 || left != 1 || complete {
		t.Errorf("one is unreadable: of %d the actor is dead, %d were not looked at, complete: %t", dead, left, complete)
	}
}
