package actor

import (
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// packOf is one entry, given by its matcher, with the signs of its component.
func packOf(t testing.TB, matcher, signs string) *finalizer.Registry {
	t.Helper()
	text := fmt.Sprintf(`title: Test
components: {Zebra operator: {%s}}
finalizers:
- {id: test, %s, kinds: ['*'], component: Zebra operator, does: deletes it, ifRemoved: it leaks, risk: leaks-external, polarity: cleanup, verified: source, source: 'https://example.com'}
`, signs, matcher)
	r, err := finalizer.Load(fstest.MapFS{"test.yaml": &fstest.MapFile{Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAnotherTenantsOperatorIsNotTheActor: tenant A's topic waits for the operator of its own
// cluster in its own namespace, and not for tenant B's.
func TestAnotherTenantsOperatorIsNotTheActor(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	a, b := c.Namespace(t), c.Namespace(t)
	known := packOf(t, "exact: zebra.example.com/topic",
		"deployments: ['*/*-zebra-operator'], instance: {namespace: true, label: zebra.example.com/cluster}")
	operator := func(ns, cluster, status string, replicas int) {
		controller{name: cluster + "-zebra-operator", image: "example.com/zebra",
			labels: []string{"zebra.example.com/cluster: " + cluster}, replicas: replicas, status: status}.install(t, c, ns)
	}
	topic := func(ns, cluster string) Actor {
		return actorOf(t, c, known, "zebra.example.com/topic",
			labelledObject("zebra.example.com/v1", "Topic", ns, map[string]string{"zebra.example.com/cluster": cluster}))
	}
	operator(b, "events", ready, 1)
	wantActor(t, topic(b, "events"), Alive, b+"/events-zebra-operator has 1 of 1 pod ready")
	of := topic(a, "events")
	wantActor(t, of, Unknown, "there is no Deployment *-zebra-operator in "+a)
	if of.Found || !of.NotFound() {
		t.Errorf("found %t, searched for %q", of.Found, of.Searched)
	}
	wantActor(t, topic(b, "other"), Unknown, "there is no Deployment")
	operator(a, "events", "", 0)
	wantActor(t, topic(a, "events"), Dead, a+"/events-zebra-operator is scaled to 0")
	wantActor(t, topic(b, "events"), Alive, b+"/events-zebra-operator has 1 of 1 pod ready")
	unlabelled := actorOf(t, c, known, "zebra.example.com/topic", labelledObject("zebra.example.com/v1", "Topic", a, nil))
	wantActor(t, unlabelled, Unknown, "the object has no label zebra.example.com/cluster")
	if unlabelled.NotFound() {
		t.Error("what cannot be told apart counts as not found")
	}
}

// TestAnotherServicesControllerIsNotTheActor: a DBInstance waits for the controller of its own
// service, and an attachment for that of its own driver.
func TestAnotherServicesControllerIsNotTheActor(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	ack := packOf(t, "exact: finalizers.zebra.example.com/x",
		"deployments: ['zebra-system/zebra-{service}-controller'], images: ['zebra/{service}-controller']")
	controller{name: "zebra-s3-controller", image: "example.com/zebra/s3-controller:v1", replicas: 1,
		status: ready}.install(t, c, ns)
	of := func(group string) Actor {
		return actorOf(t, c, ack, "finalizers.zebra.example.com/x", labelledObject(group+"/v1", "Thing", "default", nil))
	}
	wantActor(t, of("s3.zebra.example.com"), Alive, "has 1 of 1 pod ready")
	wantActor(t, of("rds.zebra.example.com"), Unknown, "there is no Deployment zebra-rds-controller in zebra-system")
	csi := packOf(t, "prefix: zebra-attacher/", "leases: ['*/zebra-attacher-leader-{open}']")
	c.Apply(t, fixture.Lease(ns, "zebra-attacher-leader-ebs-csi-aws-com", "x", time.Now()))
	attachment := labelledObject("storage.k8s.io/v1", "VolumeAttachment", "", nil)
	wantActor(t, actorOf(t, c, csi, "zebra-attacher/ebs-csi-aws-com", attachment), Alive, "by x")
	wantActor(t, actorOf(t, c, csi, "zebra-attacher/driver-longhorn-io", attachment), Unknown,
		"there is no Lease zebra-attacher-leader-driver-longhorn-io")
	labelled := packOf(t, "exact: zebra.example.com/labelled", "deployments: ['*/{label:cluster}-zebra']")
	a := actorOf(t, c, labelled, "zebra.example.com/labelled", attachment)
	wantActor(t, a, Unknown, `the object does not say what to look for in "*/{label:cluster}-zebra"`)
	if a.NotFound() {
		t.Error("what cannot be looked for counts as not found")
	}
}

// TestTwoPartsOfAProductAreToldApart: two installations have a workload of the same name, which
// says nothing, and differ by their namespaces and images.
func TestTwoPartsOfAProductAreToldApart(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	serving := packOf(t, "exact: zebra.example.com/serving", "deployments: [zebra-serving/controller]")
	o := labelledObject("serving.zebra.example.com/v1", "Service", "default", nil)
	controller{name: "controller", image: "gcr.io/zebra-releases/zebra.example/eventing/cmd/controller",
		labels: []string{"app.kubernetes.io/name: zebra-eventing"}, replicas: 1, status: ready}.install(t, c, ns)
	wantActor(t, actorOf(t, c, serving, "zebra.example.com/serving", o), Unknown,
		"there is no Deployment controller in zebra-serving")
	other := c.Namespace(t)
	controller{name: "controller", image: "gcr.io/zebra-releases/zebra.example/serving/cmd/controller",
		replicas: 0}.install(t, c, other)
	wantActor(t, actorOf(t, c, serving, "zebra.example.com/serving", o), Dead, other+"/controller is scaled to 0")
}

// TestHostedControlPlanesAreStrangers: a controller manager in another namespace is that of another
// cluster, which is hosted here.
func TestHostedControlPlanesAreStrangers(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	controller{name: "kube-controller-manager", image: "registry.k8s.io/kube-controller-manager:v1.36.0",
		labels: []string{"component: kube-controller-manager"}}.install(t, c, ns)
	a := actorOf(t, c, fixture.Packs(t), "kubernetes.io/pvc-protection",
		labelledObject("v1", "PersistentVolumeClaim", "default", nil))
	if a.Life != Unknown || a.Found || len(a.Workloads) > 0 {
		t.Errorf("%s, found %t: %q", a.Life, a.Found, a.Says())
	}
}
