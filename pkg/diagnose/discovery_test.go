package diagnose

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestBlockerIsNotUnresolvableWhereDiscoveryHidesItsOwner: that a kind is not shown does not mean
// that it is not served.
func TestBlockerIsNotUnresolvableWhereDiscoveryHidesItsOwner(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "owner"))
	c.Apply(t, "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: other, namespace: "+ns+"}\n")
	uid := c.Kubectl(t, "get", "lease", "other", "-n", ns, "-o", "jsonpath={.metadata.uid}")
	c.Apply(t, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: blocker\n  namespace: "+ns+
		"\n  ownerReferences:\n  - "+reference(t, c, ns, "owner", true)+
		"\n  - {apiVersion: coordination.k8s.io/v1, kind: Lease, name: other, uid: "+uid+"}\n")
	fixture.Free(t, c, ns, "configmap/owner")
	deleted(t, c, "configmap", "owner", "-n", ns, "--cascade=foreground")
	for name, fault := range map[string]faultproxy.Fault{"an empty group": faultproxy.EmptyVersion("coordination.k8s.io",
		"v1"), "no such group": faultproxy.WithoutGroup("coordination.k8s.io")} {
		t.Run(name, func(t *testing.T) {
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(faultproxy.Groups, fault)
			d := examine(t, proxy.Config(), Options{}, ns, subject{"configmaps/owner", ns})
			for _, cause := range d.Stuck[0].Causes {
				if cause.Code == string(core.BlockerUnresolvable) {
					t.Errorf("%s: %q", cause.Code, cause.Evidence)
				}
			}
			if d.Complete {
				t.Error("the diagnosis says that it is complete")
			}
		})
	}
}

// TestDiagnosisSaysWhetherItIsComplete: nothing that is stuck was seen, and that is not the same as
// nothing.
func TestDiagnosisSaysWhetherItIsComplete(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	if d := examine(t, c.Config(), Options{}, ns); !d.Complete || len(d.Stuck)+len(d.Gaps) != 0 {
		t.Errorf("%+v, want it complete and empty", d)
	}
	for name, test := range map[string]struct {
		matches func(*http.Request) bool
		fault   faultproxy.Fault
	}{
		"a type that cannot be listed": {faultproxy.Path("/secrets"), faultproxy.Status(403, "Forbidden", "no")},
		"a hidden type":                {faultproxy.Groups, faultproxy.EmptyVersion("coordination.k8s.io", "v1")},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(test.matches, test.fault)
			if d := examine(t, proxy.Config(), Options{}, ns); d.Complete || len(d.Gaps) != 1 || len(d.Stuck) != 0 {
				t.Errorf("%+v, want it incomplete", d)
			}
		})
	}
}

// TestOrphaningWithHiddenDependents: that none was seen is not said without what could not be.
func TestOrphaningWithHiddenDependents(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "owner"))
	fixture.Free(t, c, ns, "configmap/owner")
	deleted(t, c, "configmap", "owner", "-n", ns, "--cascade=orphan")
	d := examine(t, c.Config(), Options{}, ns)
	wantEvidence(t, d.Stuck[0].Causes[0], "no dependent names it")
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(faultproxy.Groups, faultproxy.EmptyVersion("coordination.k8s.io", "v1"))
	d = examine(t, proxy.Config(), Options{}, ns)
	wantEvidence(t, d.Stuck[0].Causes[0], "no dependent was seen that names it")
	wantEvidence(t, d.Stuck[0].Causes[0], "*.coordination.k8s.io cannot be listed")
	if slices.ContainsFunc(d.Stuck[0].Causes[0].Evidence,
		func(e string) bool { return strings.HasPrefix(e, "no dependent names it") }) {
		t.Errorf("evidence %q", d.Stuck[0].Causes[0].Evidence)
	}
}

// TestPlain404OfADeleteIsNoAbsence: something between here and the server answers the dry run, and
// the object is there.
func TestPlain404OfADeleteIsNoAbsence(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "there"))
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(func(r *http.Request) bool { return r.Method == http.MethodDelete },
		faultproxy.Plain(404, "404 page not found"))
	d := examine(t, proxy.Config(), Options{}, ns, subject{"configmaps/there", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/there": {"DeletionRejected ConfigMap/there"}})
	wantEvidence(t, d.Stuck[0].Causes[0], "the server answers a DELETE of it")
}

// TestReadThatFailsIsAGapOfTheDiagnosis: what a cause would have been found by was not seen,
// whatever else was.
func TestReadThatFailsIsAGapOfTheDiagnosis(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	deleted(t, c, "namespace", ns)
	if d := examine(t, c.Config(), Options{}, ns, subject{"namespaces/" + ns, ""}); !d.Complete {
		t.Errorf("gaps %+v, want none", d.Gaps)
	}
	for name, fault := range map[string]faultproxy.Fault{
		"another object": faultproxy.Plain(200,
			`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"another","uid":"u"}}`),
		"a 404 of nobody": faultproxy.Plain(404, "404 page not found"),
		"forbidden":       faultproxy.Status(403, "Forbidden", "no"),
		"500":             faultproxy.Status(500, "InternalError", "no"),
	} {
		t.Run(name, func(t *testing.T) {
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(func(r *http.Request) bool { return r.URL.Path == "/api/v1/namespaces/"+ns }, faultproxy.Times(1, fault))
			d := examine(t, proxy.Config(), Options{}, ns, subject{"namespaces/" + ns, ""})
			if d.Complete || len(d.Gaps) != 1 || d.Gaps[0].Resource != "namespaces" {
				t.Errorf("complete %t, gaps %+v; want one of namespaces", d.Complete, d.Gaps)
			}
		})
	}
}
