package deletion

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// firstFew names some of the objects in an error. The line breaks of an error are printed, those of
// a name must not be.
func firstFew(refs []graph.Ref) string {
	names := make([]string, len(refs))
	for i, r := range refs {
		names[i] = r.KindName()
	}
	return strings.ReplaceAll(phrase.SortedFew(names), "\n", `\n`)
}

// refs are the objects of a graph by their IDs.
func refs(g *graph.Graph, ids []graph.ID) []graph.Ref {
	refs := make([]graph.Ref, len(ids))
	for i, id := range ids {
		refs[i] = g.Ref(id)
	}
	return refs
}
