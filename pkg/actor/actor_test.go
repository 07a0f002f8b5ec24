package actor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// ready is the status of a workload that has a pod that is ready.
const ready = `{"replicas":1,"readyReplicas":1}`

// setStatus writes the status of an object, which nobody else does here.
func setStatus(t testing.TB, c *testcluster.Cluster, kind, ns, name, status string) {
	t.Helper()
	c.Kubectl(t, "patch", kind, name, "-n", ns, "--subresource=status", "--type=merge", "-p", `{"status":`+status+`}`)
}

// inNamespace puts the name of a namespace in the place of NS.
func inNamespace(text, ns string) string { return strings.ReplaceAll(text, "NS", ns) }

// steps are what brings a cluster into a state.
func steps(do ...func(*testing.T, string)) []func(*testing.T, string) { return do }

// wantActor says what is wrong with what was found out.
func wantActor(t testing.TB, a Actor, life Life, evidence string) {
	t.Helper()
	if a.Life != life {
		t.Errorf("%s, want %s: %q", a.Life, life, a.Says())
	}
	if !slices.ContainsFunc(a.Says(), func(says string) bool { return strings.Contains(says, evidence) }) {
		t.Errorf("evidence %q does not say %q", a.Says(), evidence)
	}
}

// finderOf returns a Finder that sees what a user may see, and knows some packs.
func finderOf(t testing.TB, config *rest.Config, known *finalizer.Registry) *Finder {
	t.Helper()
	client, catalog := fixture.Connect(t, config)
	return NewFinder(cluster.NewReader(client, catalog), known)
}

// find returns the actor of a finalizer of an object, or of a ConfigMap that says nothing if it is
// nil.
func find(t testing.TB, f *Finder, name string, o *unstructured.Unstructured) Actor {
	t.Helper()
	if o == nil {
		o = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	}
	a, err := f.Of(t.Context(), o, name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// actorOf returns the actor that an administrator finds.
func actorOf(t testing.TB, c *testcluster.Cluster, known *finalizer.Registry, name string,
	o *unstructured.Unstructured) Actor {
	t.Helper()
	return find(t, finderOf(t, c.Config(), known), name, o)
}

// TestActorLife brings an operator to each state that can be told apart. It is called like its
// namespace, so that no other test's is found for it.
func TestActorLife(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	deployment := func(replicas int) func(*testing.T, string) {
		return func(t *testing.T, ns string) { c.Apply(t, fixture.Deployment(ns, ns, replicas)) }
	}
	running := func(t *testing.T, ns string) {
		deployment(1)(t, ns)
		setStatus(t, c, "deployment", ns, ns, ready)
	}
	lease := func(holder string, age time.Duration) func(*testing.T, string) {
		return func(t *testing.T, ns string) { c.Apply(t, fixture.Lease(ns, ns, holder, time.Now().Add(-age))) }
	}
	for _, test := range []struct {
		name     string
		signs    string // NS is the namespace
		make     []func(t *testing.T, ns string)
		life     Life
		evidence string
	}{
		{"ready", "deployments: [NS/NS]", steps(running), Alive, "has 1 of 1 pod ready"},
		{"scaled to zero", "deployments: ['*/NS']", steps(deployment(0)), Dead, "is scaled to 0"},
		{"absent", "deployments: [NS/NS, '*/NS-2']", nil, Unknown,
			"there is no Deployment NS in NS, Deployment NS-2 in any namespace or workload in any namespace with the name, image or label NS"},
		{"label", "labels: [app=NS]", steps(running), Alive, "has 1 of 1 pod ready"},
		{"no label", "labels: [app=NS]", nil, Unknown, "there is no workload or pod with the label app=NS"},
		{"lease renewed", "leases: ['*/NS']", steps(lease("op-1", 0)), Alive, "is renewed by op-1"},
		{"lease that ran out", "leases: ['*/NS']", steps(lease("op-1", 26*time.Second)), Alive, "was renewed until "},
		{"lease stale", "leases: ['*/NS*']", steps(lease("op-1", 3*time.Hour)), Dead, "was renewed last 3 h ago, by op-1"},
		{"lease renewed a few minutes ago", "leases: ['*/NS*']", steps(lease("op-1", 3*time.Minute)), Unknown,
			"was renewed last 3 min ago, by op-1"},
		{"lease given back", "leases: [NS/NS]", steps(lease("", 3*time.Hour)), Unknown, "is held by nobody"},
		{"lease given back, and scaled to zero", "deployments: [NS/NS], leases: [NS/NS]", steps(deployment(0), lease("", 0)),
			Dead, "is scaled to 0"},
		{"scaled to zero a few minutes ago", "deployments: [NS/NS], leases: [NS/NS]",
			steps(deployment(0), lease("op-1", 3*time.Minute)), Dead, "is scaled to 0"},
		{"lease absent", "leases: [NS/NS]", nil, Unknown, "there is no Lease NS in NS, Lease NS in any namespace"},
		{"deployment ready, lease stale", "deployments: [NS/NS], leases: [NS/NS]", steps(running, lease("op-1", 3*time.Hour)),
			Alive, "was renewed last 3 h ago"},
		{"deployment starting, lease stale", "deployments: [NS/NS], leases: [NS/NS]",
			steps(deployment(1), lease("op-1", 3*time.Hour)), Unknown, "starting for "},
		{"its leader's deployment", "leases: [NS/NS]", steps(deployment(0), func(t *testing.T, ns string) {
			c.Apply(t, fixture.Lease(ns, ns, ns+"-6bc7c5b67d-x2x4z_0b5a", time.Now().Add(-3*time.Minute)))
		}), Dead, "is scaled to 0"},
		{"webhook without endpoints", "webhooks: [op-webhook-NS]",
			steps(func(t *testing.T, ns string) { c.Apply(t, fixture.HarmlessWebhook(ns)) }), Unknown, "has no ready endpoints"},
		{"outside and not seen", "outside: true, note: It runs somewhere else.", nil, Unknown,
			"it may run outside the cluster, so that not seeing it says nothing"},
		{"outside, and one is scaled to zero", "outside: true, deployments: [NS/NS]", steps(deployment(0)), Unknown,
			"is scaled to 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ns := c.Namespace(t)
			for _, do := range test.make {
				do(t, ns)
			}
			a := actorOf(t, c, fixture.Pack(t, "example.com/bucket", inNamespace(test.signs, ns)), "example.com/bucket", nil)
			wantActor(t, a, test.life, inNamespace(test.evidence, ns))
			if !a.IsKnown || a.Who != "the Test operator" {
				t.Errorf("it is %q, known %t", a.Who, a.IsKnown)
			}
			if a.Found != (test.make != nil) || a.NotFound() != (test.make == nil && !a.Outside) {
				t.Errorf("found %t, not found %t; searched for %q, unread %q", a.Found, a.NotFound(), a.Searched, a.Unread)
			}
		})
	}
}

// TestActorThatMayNotBeLookedFor: what could not be read is not absent.
func TestActorThatMayNotBeLookedFor(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	known := fixture.Pack(t, "example.com/bucket", "deployments: [default/op, '*/op']")
	a := find(t, finderOf(t, c.As("nobody"), known), "example.com/bucket", nil)
	if a.Life != Unknown || len(a.Says()) == 0 || !strings.Contains(a.Says()[0], "cannot be read") {
		t.Errorf("%+v, want it unknown because it may not be read", a)
	}
}

// TestActorOfAnUnknownFinalizer follows managedFields to a workload of that name, and the domain to
// a Lease.
func TestActorOfAnUnknownFinalizer(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "cm", "gadgets.example.org/x"), "--field-manager=gadget-operator")
	fixture.Free(t, c, ns, "configmap/cm")
	whole := wholeOf(t, c, ns)
	a := actorOf(t, c, fixture.Packs(t), "gadgets.example.org/x", whole)
	if a.Life != Unknown || a.IsKnown || a.Who != "gadget-operator" {
		t.Errorf("%+v, want it unknown, called after the field manager", a)
	}
	if !strings.HasPrefix(a.Says()[0], `field manager "gadget-operator" wrote it`) {
		t.Errorf("evidence %q", a.Says())
	}
	c.Apply(t, fixture.Deployment(ns, "gadget-operator", 0))
	if a := actorOf(t, c, fixture.Packs(t), "gadgets.example.org/x", whole); a.Life != Dead {
		t.Errorf("%+v, want it dead: its Deployment is scaled to 0", a)
	}
	c.Apply(t, fixture.Lease(ns, "abc123.gadgets.example.org", "gadget-operator-1", time.Now()))
	if a := actorOf(t, c, fixture.Packs(t), "gadgets.example.org/x", whole); a.Life != Alive {
		t.Errorf("%+v, want it alive: its leader renews the Lease", a)
	}
}

// TestActorByItsName: a Deployment that is called like the domain is a hint, and decides nothing.
func TestActorByItsName(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.Deployment(ns, "gizmotron-controller", 0))
	a := actorOf(t, c, fixture.Packs(t), "things.gizmotron.net/x", nil)
	want := fmt.Sprintf("by its name it may belong to this: Deployment %s/gizmotron-controller is scaled to 0", ns)
	if a.Life != Unknown || !slices.Contains(a.Says(), want) {
		t.Errorf("%+v, want it unknown, and %q", a, want)
	}
	for domain, want := range map[string]string{"acme.cert-manager.io": "cert-manager", "longhorn.io": "longhorn",
		"x.example.com": "", "batch.kubernetes.io": "", "io": "", "a.k8s.aws": "",
		"jobs.flink.apache.org": "flink", "kueue.x-k8s.io": "kueue", "cluster.x-k8s.io": ""} {
		if got := wordOf(domain); got != want {
			t.Errorf("the word of %s is %q, want %q", domain, got, want)
		}
	}
}

// TestActorByItsWebhook: the domain is that of a group, and what admits the objects of the group
// has no endpoints. Its workload may be starting.
func TestActorByItsWebhook(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.HarmlessWebhook(ns))
	t.Cleanup(func() { c.Kubectl(t, "delete", "validatingwebhookconfiguration", "op-webhook-"+ns) })
	a := actorOf(t, c, fixture.Packs(t), "nothing.example.com/x", nil)
	if a.Life != Unknown || !slices.ContainsFunc(a.Says(),
		func(e string) bool { return strings.Contains(e, "has no ready endpoints, which admits its objects") }) {
		t.Errorf("%+v, want it unknown, and that its webhook has no endpoints", a)
	}
}
