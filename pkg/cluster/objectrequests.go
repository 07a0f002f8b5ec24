package cluster

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// RequestObjects asks for objects of a graph: a request for each type and namespace, in the order
// in which they come.
func RequestObjects(g *graph.Graph, ids []graph.ID) []ObjectRequest {
	var requests []ObjectRequest
	for _, of := range groupObjects(g, ids) {
		r := ObjectRequest{ObjectNames: ObjectNames{Type: of.Type, Namespace: of.namespace}, Total: of.total}
		for _, id := range of.ids {
			r.Names = append(r.Names, g.Name(id))
		}
		requests = append(requests, r)
	}
	return requests
}

// objectGroup are objects of one type in one namespace, and total is how many of the type there are.
type objectGroup struct {
	graph.Type
	namespace string
	ids       []graph.ID
	total     int
}

// groupObjects groups objects of a graph by type and namespace, in the order in which they come.
func groupObjects(g *graph.Graph, ids []graph.ID) []objectGroup {
	if len(ids) == 0 {
		return nil
	}
	type key struct {
		t         graph.Type
		namespace string
	}
	at := map[key]int{}
	var groups []objectGroup
	for _, id := range ids {
		t, _ := g.Type(id)
		of := key{t, g.Namespace(id)}
		i, known := at[of]
		if !known {
			i = len(groups)
			at[of] = i
			groups = append(groups, objectGroup{Type: t, namespace: of.namespace})
		}
		groups[i].ids = append(groups[i].ids, id)
	}
	for i := range g.Len() {
		id := graph.ID(i)
		if t, ok := g.Type(id); ok && g.Observed(id) {
			if i, wanted := at[key{t, g.Namespace(id)}]; wanted {
				groups[i].total++
			}
		}
	}
	return groups
}
