package cmd

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// readings asks the server how kubectl get would print the rows of a tree.
func readings(ctx context.Context, client *cluster.Client, t render.Tree) (map[graph.ID]render.Reading, error) {
	type key struct {
		t         graph.Type
		namespace string
	}
	at := map[key]int{}
	var requests []cluster.ReadRequest
	var ids [][]graph.ID
	seen := make(map[graph.ID]bool, len(t.Rows))
	for _, row := range t.Rows {
		if row.Hidden || seen[row.ID] || !t.Graph.Seen(row.ID) {
			continue
		}
		seen[row.ID] = true
		typ, _ := t.Graph.Type(row.ID)
		ref := t.Graph.Ref(row.ID)
		k := key{typ, ref.Namespace}
		i, known := at[k]
		if !known {
			i = len(requests)
			at[k] = i
			requests = append(requests, cluster.ReadRequest{Type: typ, Namespace: ref.Namespace})
			ids = append(ids, nil)
		}
		requests[i].Names = append(requests[i].Names, ref.Name)
		ids[i] = append(ids[i], row.ID)
	}
	answers, err := client.Read(ctx, requests)
	if err != nil {
		return nil, err
	}
	readings := make(map[graph.ID]render.Reading, len(seen))
	for i, byName := range answers {
		for j, name := range requests[i].Names {
			if r, ok := byName[name]; ok {
				readings[ids[i][j]] = render.Reading(r)
			}
		}
	}
	return readings, nil
}
