package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestManyPodsAreReadByAList: a node can leave thousands of pods behind, and what explains them
// must not cost a request for each.
func TestManyPodsAreReadByAList(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	var manifests strings.Builder
	names := []string{"-n", ns, "--grace-period=1", "pods"}
	for i := range core.MaxByName + 5 {
		name := fmt.Sprintf("p%02d", i)
		manifests.WriteString(podOn(ns, name, ns, ""))
		names = append(names, name)
	}
	c.Apply(t, manifests.String()+podOn(ns, "last", ns, ""))
	deleted(t, c, names...)
	graceOver(t, c, ns, "last")
	proxy := faultproxy.Start(t, c.Config())
	d := examine(t, proxy.Config(), Options{}, ns)
	if len(d.Stuck) != core.MaxByName+6 {
		t.Errorf("%d pods are stuck, want %d", len(d.Stuck), core.MaxByName+6)
	}
	for _, s := range d.Stuck {
		if len(s.Causes) != 1 || s.Causes[0].Code != string(core.NodeGone) {
			t.Errorf("%s: %+v", s.Object.Name, s.Causes)
		}
	}
	for _, r := range proxy.Requests() {
		if strings.Contains(r.Path, "/pods/") && r.Method != "DELETE" { // as a dry run
			t.Errorf("%s %s", r.Method, r.Path)
		}
	}
	if tried := proxy.Count("DELETE", "/pods/"); tried > core.MaxByName+6 {
		t.Errorf("%d deletions were tried", tried)
	}
	c.Kubectl(t, "delete", "pods", "--all", "-n", ns, "--force", "--grace-period=0")
}

// TestEventsOfManyAreReadByAList: a namespace can have thousands of objects in it, whose events must
// not cost a request for each.
func TestEventsOfManyAreReadByAList(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	var manifests strings.Builder
	names := []string{"configmap", "-n", ns}
	for i := range core.MaxByName + 5 {
		name := fmt.Sprintf("m%02d", i)
		manifests.WriteString(fixture.ConfigMap(ns, name, "example.com/kept"))
		fixture.Free(t, c, ns, "configmap/"+name)
		names = append(names, name)
	}
	c.Apply(t, manifests.String())
	deleted(t, c, names...)
	c.Kubectl(t, "delete", "namespace", ns, "--wait=false")
	proxy := faultproxy.Start(t, c.Config())
	d := examine(t, proxy.Config(), Options{}, ns, subject{"namespaces/" + ns, ""})
	if len(d.Stuck) != 1 || len(d.Stuck[0].Causes) == 0 {
		t.Errorf("the namespace is not explained: %+v", d.Stuck)
	}
	if read := proxy.Count("GET", "/namespaces/"+ns+"/events"); read > 1 {
		t.Errorf("events were read %d times", read)
	}
}

// TestEventsOfBuiltInObjects: those that warn are read, and no others, which nothing is made of.
func TestEventsOfBuiltInObjects(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "kept", "example.com/kept")+fixture.Lease(ns, "leader", "me", time.Now().Add(time.Hour)))
	fixture.Free(t, c, ns, "configmap/kept")
	deleted(t, c, "configmap", "kept", "-n", ns)
	proxy := faultproxy.Start(t, c.Config())
	known := fixture.Pack(t, "example.com/kept", "leases: ['"+ns+"/leader']")
	d := examine(t, proxy.Config(), Options{Known: known}, ns, subject{"configmaps/kept", ns})
	if got := d.Stuck[0].Causes[0].Code; got != string(core.FinalizerActorAlive) {
		t.Errorf("it is %s", got)
	}
	if read := proxy.Count("GET", "/namespaces/"+ns+"/events"); read > 1 {
		t.Errorf("events were read %d times", read)
	}
}
