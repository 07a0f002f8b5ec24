package act

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// newKind is for how long after its definition the collector may not watch a custom kind: it looks
// for kinds twice a minute.
const newKind = time.Minute

// mayBeNewKind says whether the kind of an object may be so new that the collector does not watch it
// yet: it is a custom one, and nothing proves it to be older, since the object is not.
func mayBeNewKind(g *graph.Graph, id graph.ID, now time.Time) bool {
	created := g.CreationTimestamp(id)
	return created != 0 && now.Sub(time.Unix(created, 0)) < newKind && !cluster.BuiltIn(g.Ref(id).Group())
}
