package collect_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func ExampleRun() {
	t, done := testcluster.Example("example-run")
	defer done()
	c := testcluster.Shared(t)
	namespace := danglingConfigMap(t, c)

	client, err := cluster.New(c.Config(), cluster.DefaultConcurrency)
	if err != nil {
		fmt.Println(err)
		return
	}
	outcome, err := collect.Run(context.Background(), client, collect.Request{
		Namespace:  namespace,
		MaxDeletes: 10,
		// Agree is asked before the first write, and again if a later pass would do more.
		Agree: func(_ context.Context, p *collect.Proposal) error {
			fmt.Println("deletes", len(p.Plan.Deleted))
			return nil
		},
		OnEvent: func(e plan.Event) {
			fmt.Println(e.Action.Verb, e.Action.Object.Kind, e.Action.Object.Name, e.Err)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("deleted", outcome.Tally.Count(plan.VerbDelete), "and left", len(outcome.NotDeleted))
	// Output:
	// deletes 1
	// delete ConfigMap dangling <nil>
	// deleted 1 and left 0
}

func ExamplePlan() {
	t, done := testcluster.Example("example-plan")
	defer done()
	c := testcluster.Shared(t)
	namespace := danglingConfigMap(t, c)

	client, err := cluster.New(c.Config(), cluster.DefaultConcurrency)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := collect.Plan(context.Background(), client, collect.Request{Namespace: namespace}) // which writes nothing
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range p.Plan.Actions {
		fmt.Println(a.Verb, p.Graph.Ref(a.Object).Name, a.Because.Code)
	}
	fmt.Println("refused:", p.Refused(), "gaps:", len(p.Gaps))
	// Output:
	// delete dangling OwnersGone
	// refused: <nil> gaps: 0
}

// danglingConfigMap makes a config map whose owner does not exist, and returns its namespace.
func danglingConfigMap(t testing.TB, c *testcluster.Cluster) string {
	namespace := c.Namespace(t)
	c.Apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: dangling, namespace: `+namespace+`, ownerReferences: [
		{apiVersion: apps/v1, kind: Deployment, name: web, uid: 11111111-0000-4000-8000-000000000001}]}}`)
	return namespace
}
