package cluster

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// RequestObjects asks for objects of a graph: a request for each type and namespace, in the order
// in which they come.
func RequestObjects(g *graph.Graph, ids []graph.ID) []ObjectRequest {
	type group struct {
		t         graph.Type
		namespace string
	}
	at := map[group]int{}
	var requests []ObjectRequest
	for _, id := range ids {
		t, _ := g.Type(id)
		ref := g.Ref(id)
		key := group{t, ref.Namespace}
		i, known := at[key]
		if !known {
			i = len(requests)
			at[key] = i
			requests = append(requests, ObjectRequest{ObjectNames: ObjectNames{Type: t, Namespace: ref.Namespace}})
		}
		requests[i].Names = append(requests[i].Names, ref.Name)
	}
	for i := range g.Len() {
		id := graph.ID(i)
		if !g.Observed(id) {
			continue
		}
		t, _ := g.Type(id)
		if i, wanted := at[group{t, g.Namespace(id)}]; wanted {
			requests[i].Total++
		}
	}
	return requests
}
