package ownership_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownership"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// hubPack has links to a kind that the server of the tests does not serve, as that of Argo CD where
// it deploys to this cluster from another one.
const hubPack = `title: Hub
links:
- id: tracked
  name: application
  from: {kinds: ['*'], where: [{annotation: example.org/tracking}]}
  ends: [{form: text, field: "metadata.annotations['example.org/tracking']", kind: hub.example.org/Application, namespace: hub}]
  deletion: {of: lead}
  verified: source
  source: https://example.com/it.go
- id: applies
  name: applied
  from: {kinds: [v1/ConfigMap], where: [{label: example.org/applies}]}
  ends: [{form: text, field: "metadata.labels['example.org/applies']", kind: hub.example.org/Application, namespace: hub}]
  deletion: {of: neither}
  verified: source
  source: https://example.com/it.go
`

// TestKindThatIsNotServedIsInNoNamespace: nothing more has to be listed for the sake of an object
// whose kind the server does not serve, downwards, upwards and for what manages an object.
func TestKindThatIsNotServedIsInNoNamespace(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fmt.Sprintf(
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: it, namespace: %s, labels: {example.org/applies: shop}, annotations: {example.org/tracking: shop}}\n", ns))
	r, err := finalizer.Load(fstest.MapFS{"hub.yaml": &fstest.MapFile{Data: []byte(hubPack)}})
	if err != nil {
		t.Fatal(err)
	}
	listed := fixture.List(t, c.Config(), cluster.ListOptions{Namespace: ns})
	id := listed.Find(t, "", "configmaps", ns, "it")
	for name, request := range map[string]ownership.Request{"down": {}, "up": {Upwards: true},
		"managers": {Managers: true}} {
		request.Graph, request.Scope, request.Roots, request.Definitions = listed.Graph, ns, []graph.ID{id}, r.Links()
		own, err := ownership.Find(t.Context(), listed.Client, listed.Catalog, request)
		if err != nil {
			t.Fatal(err)
		}
		if own.Elsewhere || len(own.Gaps) > 0 {
			t.Errorf("%s: elsewhere %t, gaps %v", name, own.Elsewhere, own.Gaps)
		}
		if found := own.Links.Found(id); !request.Upwards && (len(found) != 1 || own.Graph.Observed(found[0].End)) {
			t.Errorf("%s: links %v, want one to an object that was not seen", name, found)
		}
	}
}
