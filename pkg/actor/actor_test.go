package actor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func actorOf(t testing.TB, c *testcluster.Cluster, known *finalizer.Registry, name string, o *unstructured.Unstructured) Actor {
	t.Helper()
	client, err := cluster.New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := client.Discover()
	if err != nil {
		t.Fatal(err)
	}
	if o == nil {
		o = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	}
	a, err := NewFinder(cluster.NewReader(client, catalog), known).Of(t.Context(), o, name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestActorLife brings an operator to each state that can be told apart.
func TestActorLife(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ready := func(t *testing.T, ns, name string, n int) {
		c.Kubectl(t, "patch", "deployment", name, "-n", ns, "--subresource=status", "--type=merge", "-p", fmt.Sprintf(`{"status":{"replicas":1,"readyReplicas":%d}}`, n))
	}
	for _, test := range []struct {
		name     string
		signs    string // %[1]s is the namespace
		make     func(t *testing.T, ns string)
		life     Life
		evidence string
	}{
		{"ready", "deployments: ['%[1]s/op']", func(t *testing.T, ns string) {
			c.Apply(t, fixture.Deployment(ns, "op", 1))
			ready(t, ns, "op", 1)
		}, Alive, "has 1 of 1 pod ready"},
		{"not ready", "deployments: ['%[1]s/op']", func(t *testing.T, ns string) { c.Apply(t, fixture.Deployment(ns, "op", 1)) }, Unknown, "has none of 1 pod ready"},
		{"scaled to zero", "deployments: ['*/op-zero']", func(t *testing.T, ns string) { c.Apply(t, fixture.Deployment(ns, "op-zero", 0)) }, Dead, "is scaled to 0"},
		{"absent", "deployments: ['%[1]s/op', '*/op-absent']", nil, Unknown, "there is no Deployment op in %[1]s or Deployment op-absent"},
		{"label", "labels: ['app=op-labelled']", func(t *testing.T, ns string) {
			c.Apply(t, fixture.Deployment(ns, "op-labelled", 1))
			ready(t, ns, "op-labelled", 1)
		}, Alive, "has 1 of 1 pod ready"},
		{"no label", "labels: ['app=op-nowhere']", nil, Unknown, "there is no workload with the label app=op-nowhere"},
		{"lease renewed", "leases: ['*/op-leader']", func(t *testing.T, ns string) { c.Apply(t, fixture.Lease(ns, "op-leader", "op-1", time.Now())) }, Alive, "is renewed by op-1"},
		{"lease stale", "leases: ['*/op-stale-*']", func(t *testing.T, ns string) {
			c.Apply(t, fixture.Lease(ns, "op-stale-leader", "op-1", time.Now().Add(-3*time.Hour)))
		}, Dead, "was renewed last 3 h ago, by op-1"},
		{"lease given back", "leases: ['%[1]s/op']", func(t *testing.T, ns string) { c.Apply(t, fixture.Lease(ns, "op", "", time.Now())) }, Unknown, "is held by nobody"},
		{"lease absent", "leases: ['%[1]s/op']", nil, Unknown, "there is no Lease op in %[1]s"},
		{"deployment ready, lease stale", "deployments: ['%[1]s/op'], leases: ['%[1]s/op']", func(t *testing.T, ns string) {
			c.Apply(t, fixture.Deployment(ns, "op", 1)+fixture.Lease(ns, "op", "op-1", time.Now().Add(-3*time.Hour)))
			ready(t, ns, "op", 1)
		}, Alive, "was renewed last 3 h ago"},
		{"webhook without endpoints", "webhooks: [op-webhook-%[1]s]", func(t *testing.T, ns string) { c.Apply(t, fixture.HarmlessWebhook(ns)) }, Unknown, "has no ready endpoints"},
		{"nothing to look for", "outside: true, note: It runs somewhere else.", nil, Unknown, "It runs somewhere else"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ns := c.Namespace(t)
			if test.make != nil {
				test.make(t, ns)
			}
			signs := strings.ReplaceAll(test.signs, "%[1]s", ns)
			a := actorOf(t, c, fixture.Pack(t, "example.com/bucket", signs), "example.com/bucket", nil)
			if a.Life != test.life || !a.IsKnown || a.Who != "the Test operator" {
				t.Errorf("%+v, want it %s", a, test.life)
			}
			want := strings.ReplaceAll(test.evidence, "%[1]s", ns)
			if !slices.ContainsFunc(a.Says(), func(e string) bool { return strings.Contains(e, want) }) {
				t.Errorf("evidence %q does not say %q", a.Says(), want)
			}
		})
	}
}

// TestActorThatMayNotBeLookedFor: what could not be read is not absent.
func TestActorThatMayNotBeLookedFor(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	client, err := cluster.New(c.As("nobody"), 0)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := client.Discover()
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	a, err := NewFinder(cluster.NewReader(client, catalog), fixture.Pack(t, "example.com/bucket", "deployments: [default/op, '*/op']")).Of(t.Context(), o, "example.com/bucket")
	if err != nil {
		t.Fatal(err)
	}
	if a.Life != Unknown || len(a.Says()) == 0 || !strings.Contains(a.Says()[0], "cannot be read") {
		t.Errorf("%+v, want it unknown because it may not be read", a)
	}
}

// TestActorOfAnUnknownFinalizer follows managedFields to a workload of that name, and the domain to a Lease.
func TestActorOfAnUnknownFinalizer(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "cm", "gadgets.example.org/x"), "--field-manager=gadget-operator")
	fixture.Free(t, c, ns, "configmap/cm")
	whole := func() *unstructured.Unstructured {
		client, err := cluster.New(c.Config(), 0)
		if err != nil {
			t.Fatal(err)
		}
		catalog, err := client.Discover()
		if err != nil {
			t.Fatal(err)
		}
		configMaps, _ := catalog.Kind("v1", "ConfigMap")
		o, err := client.GetWhole(t.Context(), configMaps, ns, "cm")
		if err != nil {
			t.Fatal(err)
		}
		return o
	}()
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
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	a := actorOf(t, c, fixture.Packs(t), "things.gizmotron.net/x", o)
	want := fmt.Sprintf("by its name it may belong to this: Deployment %s/gizmotron-controller is scaled to 0", ns)
	if a.Life != Unknown || !slices.Contains(a.Says(), want) {
		t.Errorf("%+v, want it unknown, and %q", a, want)
	}
	for domain, want := range map[string]string{"acme.cert-manager.io": "cert-manager", "longhorn.io": "longhorn", "x.example.com": "", "batch.kubernetes.io": "", "io": "", "a.k8s.aws": ""} {
		if got := wordOf(domain); got != want {
			t.Errorf("the word of %s is %q, want %q", domain, got, want)
		}
	}
}

// TestActorByItsWebhook: the domain is that of a group, and what admits the objects of the group has no endpoints. Its workload may be starting.
func TestActorByItsWebhook(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.HarmlessWebhook(ns))
	t.Cleanup(func() { c.Kubectl(t, "delete", "validatingwebhookconfiguration", "op-webhook-"+ns) })
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	a := actorOf(t, c, fixture.Packs(t), "nothing.example.com/x", o)
	if a.Life != Unknown || !slices.ContainsFunc(a.Says(), func(e string) bool { return strings.Contains(e, "has no ready endpoints, which admits its objects") }) {
		t.Errorf("%+v, want it unknown, and that its webhook has no endpoints", a)
	}
}
