package deletion_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.NoControllers()) }

func ExamplePlan() {
	t, done := testcluster.Example("example-plan")
	defer done()
	c := testcluster.Shared(t)
	namespace := c.Namespace(t)
	ownerAndDependent(t, c, namespace)

	// The connection flags of kubectl; a program can set them itself.
	kubeconfig := c.Kubeconfig()
	config := genericclioptions.NewConfigFlags(true)
	config.KubeConfig = &kubeconfig

	client, err := cluster.New(c.Config(), cluster.DefaultConcurrency)
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog, err := client.Discover(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := deletion.Plan(context.Background(), client, catalog, config, deletion.Request{
		Selection: selection.Request{Namespace: namespace, Args: []string{"configmap/owner"}},
		Policy:    plan.Background,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range p.Actions {
		fmt.Println("wave", a.Wave, a.Verb, p.Graph.Ref(a.Object).KindName(), a.Because.Code)
	}
	fmt.Println("refused:", p.Refused(false))
	// Output:
	// wave 1 delete ConfigMap/owner Requested
	// wave 2 delete ConfigMap/dependent OwnersGone
	// refused: <nil>
}

func ExamplePerform() {
	t, done := testcluster.Example("example-perform")
	defer done()
	c := testcluster.Shared(t)
	namespace := c.Namespace(t)
	ownerAndDependent(t, c, namespace)

	config, client, catalog := fixture.ConnectFlags(t, c.Kubeconfig()) // as in the example of Plan
	ctx := context.Background()
	p, err := deletion.Plan(ctx, client, catalog, config, deletion.Request{
		Selection: selection.Request{Namespace: namespace, Args: []string{"configmap/owner"}},
		Policy:    plan.Background,
		GC:        deletion.ClientGC, // no collector runs here
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := deletion.Perform(ctx, p, deletion.Options{
		// Agree is asked before the first write, and again if a new plan goes beyond this one.
		Agree: func(_ context.Context, p *deletion.Planned, _ *deletion.Change) error {
			fmt.Println("deletes", len(p.Deleted))
			return nil
		},
		Wait:    true,
		Timeout: time.Minute,
		OnEvent: func(e act.Event) {
			if e.Type == act.Deleting {
				fmt.Println("deleting", e.Action.Object.KindName())
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("collected", len(result.Collected), "and left", len(result.Blocked))
	// Output:
	// deletes 2
	// deleting ConfigMap/owner
	// collected 1 and left 0
}

// ownerAndDependent makes a config map that owns another.
func ownerAndDependent(t testing.TB, c *testcluster.Cluster, namespace string) {
	c.Kubectl(t, "create", "configmap", "owner", "-n", namespace)
	uid := c.Kubectl(t, "get", "configmap/owner", "-n", namespace, "-o", "jsonpath={.metadata.uid}")
	c.Apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: dependent, namespace: `+namespace+`, ownerReferences: [
		{apiVersion: v1, kind: ConfigMap, name: owner, uid: `+uid+`}]}}`)
}
