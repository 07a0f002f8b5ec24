package diagnose_test

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func ExampleWhy() {
	t, done := testcluster.Example("example-why")
	defer done()
	c := testcluster.Shared(t)
	namespace := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(namespace, "web", "nobody.example.net/x"))
	fixture.Free(t, c, namespace, "configmap/web")
	c.Kubectl(t, "delete", "configmap", "web", "-n", namespace, "--wait=false")

	// The connection flags of kubectl, a cluster.New and its Discover; the example of deletion.Plan
	// shows them.
	config, client, catalog := fixture.ConnectFlags(t, c.Kubeconfig())
	ctx := context.Background()
	query, err := selection.NewQuery(ctx, config, client, catalog,
		selection.Request{Namespace: namespace, Args: []string{"configmap/web"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := diagnose.Why(ctx, query, diagnose.Options{Known: fixture.Packs(t)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range d.Stuck {
		for _, cause := range s.Causes {
			fmt.Println(s.Object.Kind, s.Object.Name, cause.Code)
		}
	}
	// Output:
	// ConfigMap web FinalizerActorUnknown
}
