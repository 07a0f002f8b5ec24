package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// present counts the finalizers of a graph by what is known of them, and by the type of what has
// them. Those with most objects come first.
func present(g *graph.Graph, known *finalizer.Registry) []v1alpha1.ExplainedFinalizer {
	type entry struct{ name, id string }
	type place struct {
		entry
		apiVersion, resource string
	}
	all, places := map[entry]*v1alpha1.ExplainedFinalizer{}, map[place]*v1alpha1.FinalizersOn{}
	for i := range g.Len() {
		id := graph.ID(i)
		for _, name := range g.Finalizers(id) {
			ref := g.Ref(id)
			k, _ := known.Lookup(name, ref.Group(), ref.Kind) // of one that is not known the id is empty
			e := entry{name, k.ID}
			if all[e] == nil {
				explained := known.Explain(name, ref)
				all[e] = &explained
			}
			p := place{e, ref.APIVersion, ref.Resource}
			if places[p] == nil {
				places[p] = &v1alpha1.FinalizersOn{APIVersion: ref.APIVersion, Kind: ref.Kind, Resource: ref.Resource}
			}
			places[p].Objects++
			if g.State(id) == graph.Deleting {
				places[p].Deleting++
			}
		}
	}
	for p, on := range places {
		all[p.entry].Found = append(all[p.entry].Found, *on)
	}
	found := []v1alpha1.ExplainedFinalizer{}
	for e := range maps.Values(all) {
		slices.SortFunc(e.Found, func(a, b v1alpha1.FinalizersOn) int {
			return cmp.Or(cmp.Compare(b.Objects, a.Objects),
				strings.Compare(fmt.Sprint(a.Resource, a.APIVersion), fmt.Sprint(b.Resource, b.APIVersion)))
		})
		found = append(found, *e)
	}
	slices.SortFunc(found, func(a, b v1alpha1.ExplainedFinalizer) int {
		return cmp.Or(cmp.Compare(objectsWith(b), objectsWith(a)), strings.Compare(a.Name, b.Name),
			strings.Compare(a.ID, b.ID))
	})
	return found
}

func objectsWith(e v1alpha1.ExplainedFinalizer) int {
	n := 0
	for _, on := range e.Found {
		n += on.Objects
	}
	return n
}
