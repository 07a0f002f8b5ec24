package plan

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestWhatComesBackByItsController: a pod does whose controller stays, also one that is
// cluster-scoped. It does not where the controller goes or did not exist, where the owner is no
// controller, and where the namespace of the pod goes.
func TestWhatComesBackByItsController(t *testing.T) {
	deployments := graph.Type{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true}
	nodes := graph.Type{Version: "v1", Resource: "nodes", Kind: "Node"}
	controlled := func(t graph.Type, name string) graph.OwnerReference {
		r := to(t, name)
		r.Controller = true
		return r
	}
	for name, c := range map[string]struct {
		owner graph.OwnerReference
		roots []string
		want  string
	}{
		"a controller that stays":         {controlled(deployments, "deployment"), []string{"pod"}, "deployment"},
		"a cluster-scoped controller":     {controlled(nodes, "node"), []string{"pod"}, "node"},
		"the controller goes too":         {controlled(deployments, "deployment"), []string{"pod", "deployment"}, ""},
		"an owner that is no controller":  {to(deployments, "deployment"), []string{"pod"}, ""},
		"a controller that never existed": {controlled(deployments, "absent"), []string{"pod"}, ""},
		"another kind than the owner's":   {as(controlled(deployments, "deployment"), nodes, "x"), []string{"pod"}, ""},
		"the namespace goes":              {controlled(nodes, "node"), []string{"ns"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSmall(t)
			s.add(nsType, "ns")
			s.add(nodes, "node")
			s.add(deployments, "deployment")
			s.add(pods, "pod", c.owner)
			b := graph.NewBuilder()
			for _, of := range []graph.Type{nsType, nodes, deployments, pods} {
				b.Serve(of)
				l := b.Listing(of, "")
				l.Add(s.objects[of]...)
				l.Complete()
			}
			g := b.Build()
			var owners []graph.ID
			for _, r := range New(g, lookup(t, g, c.roots...), Background, Options{}).Recreated {
				owners = append(owners, r.Owner)
			}
			if got := names(g, owners); got != c.want {
				t.Errorf("what comes back is controlled by %q, want %q", got, c.want)
			}
		})
	}
}
