package tree_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/tree"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.NoControllers()) }

func ExampleLook() {
	t, done := testcluster.Example("example-look")
	defer done()
	c := testcluster.Shared(t)
	namespace := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(namespace, "web", "example.com/cleanup"))
	fixture.Free(t, c, namespace, "configmap/web")

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
	s, err := tree.Look(ctx, query, tree.Options{Depth: -1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range s.Rows {
		ref := s.Graph.Ref(row.ID)
		fmt.Printf("%s%s/%s %s %s\n", strings.Repeat("  ", row.Indent), ref.Kind, ref.Name, s.Graph.State(row.ID),
			s.Graph.Finalizers(row.ID))
	}
	fmt.Println("gaps:", len(s.Gaps))
	// Output:
	// ConfigMap/web Active [example.com/cleanup]
	// gaps: 0
}
