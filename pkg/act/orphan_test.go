package act

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestJudge(t *testing.T) {
	owner := graph.Ref{Kind: "Deployment", Name: "web", UID: "owner"}
	reference := func(uid string, controller bool) graph.OwnerReference {
		return graph.OwnerReference{Kind: "Deployment", Name: "n-" + uid, UID: uid, Controller: controller}
	}
	for name, test := range map[string]struct {
		now     *graph.Object
		err     string
		adopter string
	}{
		"free":                  {now: &graph.Object{}},
		"another owner":         {now: &graph.Object{Owners: []graph.OwnerReference{reference("other", false)}}},
		"the controller it had": {now: &graph.Object{Owners: []graph.OwnerReference{reference("before", true)}}},
		"gone":                  {err: "is deleted"},
		"being deleted":         {now: &graph.Object{DeletionTimestamp: 1}, err: "is being deleted"},
		"not orphaned": {now: &graph.Object{Owners: []graph.OwnerReference{reference("owner", false)}},
			err: "the collector will delete it"},
		"adopted by the same again": {now: &graph.Object{Owners: []graph.OwnerReference{reference("owner", true)}},
			err: "the collector will delete it"},
		"adopted by another": {now: &graph.Object{Owners: []graph.OwnerReference{reference("new", true)}},
			adopter: "n-new"},
		"not orphaned and adopted too": {now: &graph.Object{Owners: []graph.OwnerReference{reference("owner", false),
			reference("new", true)}}, err: "the collector", adopter: "n-new"},
	} {
		o := Orphan{Object: graph.Ref{Resource: "replicasets", Name: "web-1"}, Owner: owner}
		o.assess(test.now, []string{"before", "owner"})
		switch {
		case (o.Err != nil) != (test.err != ""), o.Err != nil && !strings.Contains(o.Err.Error(), test.err), o.Err != nil &&
			!strings.Contains(o.Err.Error(), `replicasets "web-1"`):
			t.Errorf("%s: error %v, want %q", name, o.Err, test.err)
		case (o.Adopter != nil) != (test.adopter != ""), o.Adopter != nil && o.Adopter.Name != test.adopter:
			t.Errorf("%s: adopter %v, want %q", name, o.Adopter, test.adopter)
		}
	}
}

// TestLaggingControllerIsReported_RO021: the owner stays, for a finalizer, and its controller's
// last observedGeneration is from before the deletion. One that has caught up is not told.
func TestLaggingControllerIsReported_RO021(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	for _, name := range []string{"behind", "abreast"} {
		c.Apply(t, `apiVersion: apps/v1
kind: Deployment
metadata: {name: `+name+`, finalizers: [example.com/x]}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: c}]}
`, "-n", ns)
	}
	client, p, points := prepare(t, c.Config(), ns, plan.Orphan, "deployments/behind", "deployments/abreast")
	var told record
	r := &run{client: client, opts: told.options(points, true), result: &Result{}}
	r.waiter = newWaiter(r.opts)
	r.waiter.add(Replanned{Plan: p, ResumePoints: points})
	if rest := r.send(t.Context(), p); len(rest) != 0 || len(r.result.Done) != 2 {
		t.Fatalf("not sent: %v, done %v", rest, r.result.Done)
	}
	for name, observed := range map[string]string{"behind": "1", "abreast": "2"} { // a deletion is the second generation
		c.Kubectl(t, "patch", "deployment", name, "-n", ns, "--subresource=status", "--type=merge", "-p",
			`{"status":{"observedGeneration":`+observed+`}}`)
	}
	r.unobserved(t.Context())
	if !slices.Contains(told.events, "unobserved behind") || slices.Contains(told.events, "unobserved abreast") {
		t.Errorf("events: %v, want the one that is behind to be told", told.events)
	}
}

// TestOrphansAreVerified_GC068: somebody plays the collector, leaves the reference on one
// dependent, deletes another, and does his work on the others.
func TestOrphansAreVerified_GC068(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, manifest(ns, "owner"))
	names := []string{"a", "b", "deleted", "missed", "w", "x"} // more than are read one by one
	owning(t, c, ns, "owner", names...)
	client, p, points := prepare(t, c.Config(), ns, plan.Orphan, "owner")
	var told record
	opts := told.options(points, true)
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		testcluster.Eventually(t, "the orphan finalizer", func(context.Context) (bool, error) {
			return strings.Contains(c.Kubectl(t, "get", "configmap", "owner", "-n", ns, "-o", "jsonpath={.metadata.finalizers}"),
				"orphan"), nil
		})
		for _, name := range names {
			if name != "missed" {
				c.Kubectl(t, "patch", "configmap", name, "-n", ns, "--type=merge", "-p", `{"metadata":{"ownerReferences":null}}`)
			}
		}
		c.Kubectl(t, "delete", "configmap", "deleted", "-n", ns)
		c.Kubectl(t, "patch", "configmap", "owner", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	}()
	result, err := Run(t.Context(), client, p, opts)
	<-collected
	if err != nil || len(result.Orphaned) != len(names) {
		t.Fatalf("%v, orphaned %+v", err, result.Orphaned)
	}
	for i, o := range result.Orphaned {
		bad := map[string]string{"deleted": "is deleted", "missed": "refers to ConfigMap"}[names[i]]
		if o.Object.Name != names[i] || (o.Err != nil) != (bad != "") || o.Err != nil &&
			!strings.Contains(o.Err.Error(), bad) {
			t.Errorf("orphan %d: %s, %v; want %s, %q", i, o.Object.Name, o.Err, names[i], bad)
		}
	}
}
