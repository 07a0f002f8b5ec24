package tree

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// readings asks the server how kubectl get would print the rows of a tree.
func readings(ctx context.Context, client *cluster.Client, g *graph.Graph, rows []graph.Row) (map[graph.ID]graph.PrinterColumns, error) {
	type key struct {
		t         graph.Type
		namespace string
	}
	at := map[key]int{}
	var requests []cluster.ObjectNames
	var ids [][]graph.ID
	seen := make(map[graph.ID]bool, len(rows))
	for _, row := range rows {
		if row.Hidden || seen[row.ID] || !g.Observed(row.ID) {
			continue
		}
		seen[row.ID] = true
		typ, _ := g.Type(row.ID)
		ref := g.Ref(row.ID)
		k := key{typ, ref.Namespace}
		i, known := at[k]
		if !known {
			i = len(requests)
			at[k] = i
			requests = append(requests, cluster.ObjectNames{Type: typ, Namespace: ref.Namespace})
			ids = append(ids, nil)
		}
		requests[i].Names = append(requests[i].Names, ref.Name)
		ids[i] = append(ids[i], row.ID)
	}
	answers, err := client.PrinterColumns(ctx, requests)
	if err != nil {
		return nil, err
	}
	readings := make(map[graph.ID]graph.PrinterColumns, len(seen))
	for i, byName := range answers {
		for j, name := range requests[i].Names {
			if r, ok := byName[name]; ok {
				readings[ids[i][j]] = r
			}
		}
	}
	return readings, nil
}
