package deletion

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// fleetPack says that a Cluster waits for its Sets, as Cluster API has it.
const fleetPack = `title: Test
components: {Fleet operator: {}}
finalizers:
- id: cluster
  exact: example.org/cluster
  kinds: [example.org/Cluster]
  component: Fleet operator
  does: deletes the Sets, then removes the finalizer
  ifRemoved: nothing
  risk: none
  polarity: cleanup
  waitsFor: [example.org/Set, apiextensions.k8s.io/CustomResourceDefinition]
  verified: source
  source: https://example.com/it.go
`

// TestDependentsThatAFinalizerIsWaitedForGoBeforeTheirOwner: by its controller, which waits for
// them; other dependents go after the owner, and so do all of an owner without the finalizer, by
// the collector. Their rows stand once in the tree.
func TestDependentsThatAFinalizerIsWaitedForGoBeforeTheirOwner(t *testing.T) {
	known, err := finalizer.Load(fstest.MapFS{"fleet.yaml": &fstest.MapFile{Data: []byte(fleetPack)}})
	if err != nil {
		t.Fatal(err)
	}
	clusters := graph.Type{Group: "example.org", Version: "v1", Resource: "clusters", Kind: "Cluster", Namespaced: true}
	sets := graph.Type{Group: "example.org", Version: "v1", Resource: "sets", Kind: "Set", Namespaced: true}
	networks := graph.Type{Group: "example.org", Version: "v1", Resource: "networks", Kind: "Network", Namespaced: true}
	of := func(owner string) []graph.OwnerReference {
		return []graph.OwnerReference{{APIVersion: "example.org/v1", Kind: "Cluster", Name: owner, UID: owner}}
	}
	b := graph.NewBuilder()
	for t, objects := range map[graph.Type][]graph.Object{
		clusters: {{Namespace: "ns", Name: "prod", UID: "prod", Finalizers: []string{"example.org/cluster"}},
			{Namespace: "ns", Name: "bare", UID: "bare"}},
		sets: {{Namespace: "ns", Name: "a", UID: "a", Owners: of("prod")},
			{Namespace: "ns", Name: "b", UID: "b", Owners: of("bare")}},
		networks: {{Namespace: "ns", Name: "n", UID: "n", Owners: of("prod")}},
	} {
		b.Serve(t)
		l := b.Listing(t, "")
		l.Add(objects...)
		l.Complete()
	}
	g := b.Build()
	links := link.New(g).With(awaits(known, g)...)
	var roots []graph.ID
	for _, uid := range []string{"prod", "bare"} {
		id, _ := g.Lookup(uid)
		roots = append(roots, id)
		if rows := links.Dependents(id); len(rows) > 0 {
			t.Errorf("%s has rows besides those of its dependents: %v", uid, rows)
		}
	}
	p := plan.New(g, roots, plan.Background, plan.Options{Links: links})
	var said []string
	for _, a := range p.Actions {
		said = append(said, fmt.Sprintf("%d %s by %s", a.Wave, g.Name(a.Object), a.By))
	}
	slices.Sort(said)
	if got := strings.Join(
		said, ", "); got != "1 bare by client, 1 prod by client, 2 a by controller, 2 b by collector, 3 n by collector" {
		t.Errorf("actions: %s", got)
	}
	a, _ := g.Lookup("a")
	if until := p.Until(roots[0]); !slices.Equal(until, []graph.ID{a}) {
		t.Errorf("prod waits until %v are gone, want a", until)
	}
	if with := awaits(nil, g); with != nil {
		t.Errorf("with no packs: %v", with)
	}
}
