package unfinalize_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func ExamplePlan() {
	t, done := testcluster.Example("example-plan")
	defer done()
	q, known, err := stuckConfigMap(t)
	if err != nil {
		fmt.Println(err)
		return
	}
	// It writes nothing.
	p, err := unfinalize.Plan(context.Background(), q, known, unfinalize.Request{Finalizers: []string{"example.com/hold"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range p.Candidates() {
		for _, a := range c.Actions() {
			fmt.Println(a.Verb, a.Object.Kind, a.Object.Name, a.Finalizers)
		}
	}
	for _, r := range p.Refused() {
		fmt.Println("refused:", r.Assessment.Name, r.Assessment.Against(p.Overrides)[0].Code)
	}
	// Output:
	// removeFinalizer ConfigMap stuck [example.com/hold]
	// refused: example.com/hold ActorUnknown
}

func ExamplePerform() {
	t, done := testcluster.Example("example-perform")
	defer done()
	q, known, err := stuckConfigMap(t)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	p, err := unfinalize.Plan(ctx, q, known, unfinalize.Request{
		Finalizers: []string{"example.com/hold"},
		Overrides:  unfinalize.Overrides{Force: true}, // nobody knows who should remove it
		DryRun:     true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range unfinalize.Perform(ctx, q.Client, p, unfinalize.Options{}) {
		for _, a := range o.Done {
			fmt.Println(a.Verb, a.Object.Kind, a.Object.Name, a.Finalizers)
		}
		fmt.Println("deleted:", o.Gone, "error:", o.Err)
	}
	// Output:
	// removeFinalizer ConfigMap stuck [example.com/hold]
	// deleted: true error: <nil>
}

// stuckConfigMap makes a config map whose deletion waits for a finalizer that nobody removes, and
// returns a query that names it and what is known of finalizers.
func stuckConfigMap(t testing.TB) (*selection.Query, *finalizer.Registry, error) {
	c := testcluster.Shared(t)
	namespace := c.Namespace(t)
	c.Apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: stuck, namespace: `+namespace+
		`, finalizers: [example.com/hold]}}`)
	c.Kubectl(t, "delete", "configmap", "stuck", "-n", namespace, "--wait=false")
	t.Cleanup(func() {
		// if it is still there
		_, _ = c.Try(context.Background(), "", "patch", "configmap", "stuck", "-n", namespace, "--type=merge", "-p",
			`{"metadata":{"finalizers":null}}`)
	})

	// The connection flags of kubectl, a cluster.New and its Discover; the example of deletion.Plan
	// shows them.
	config, client, catalog := fixture.ConnectFlags(t, c.Kubeconfig())
	q, err := selection.NewQuery(context.Background(), config, client, catalog,
		selection.Request{Namespace: namespace, Args: []string{"configmap/stuck"}})
	if err != nil {
		return nil, nil, err
	}
	return q, fixture.Packs(t), nil
}
