package collect

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// CrossNamespaceRef says whether an owner is alive in another namespace than the one that the
// reference is resolved in, so that nobody finds it there. A cluster-scoped dependent is in none
// (GC-022, GC-031).
func CrossNamespaceRef(g *graph.Graph, e graph.Edge) bool {
	if !g.Observed(e.Owner) {
		return false
	}
	owner := g.Namespace(e.Owner)
	return owner != "" && owner != g.Namespace(e.Dependent)
}

// warn writes the Events of GC-031, one for each cross-namespace reference in the life of the loop,
// and hands on what came of each.
func (p *pass) warn(ctx context.Context) {
	told := p.loop.opts.Warned
	if told == nil {
		return
	}
	for i := range p.graph.Len() {
		id := graph.ID(i)
		if p.projection.Gone(id) || !p.allows(id) {
			continue
		}
		for e := range p.graph.Owners(id) {
			if key := [2]string{p.graph.Ref(id).UID, p.graph.Ref(e.Owner).UID}; CrossNamespaceRef(p.graph, e) &&
				!p.loop.warned[key] && ctx.Err() == nil {
				p.loop.warned[key] = true
				told(p.graph.Ref(id), p.client.Warn(ctx, invalidNamespace(p.graph, e)))
			}
		}
	}
}

// invalidNamespace is what the collector says of a cross-namespace reference, word for word
// (GC-031).
func invalidNamespace(g *graph.Graph, e graph.Edge) cluster.Warning {
	dependent := g.Ref(e.Dependent)
	return cluster.Warning{
		Object: dependent, ResourceVersion: g.ResourceVersion(e.Dependent),
		Reason: "OwnerRefInvalidNamespace",
		Message: fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
			e.APIVersion, e.Kind, dependent.Namespace, e.Name, g.Ref(e.Owner).UID, dependent.Namespace),
		Component: "garbage-collector-controller", Reporter: "kubectl-gc",
	}
}
