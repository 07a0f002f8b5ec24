package tree

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// readings asks the server how kubectl get would print the rows of a tree.
func readings(ctx context.Context, client *cluster.Client, listed *selection.Snapshot, rows []graph.Row) (map[graph.ID]graph.PrinterColumns, error) {
	g := listed.Graph
	ids := make([]graph.ID, 0, len(rows))
	seen := make([]bool, g.Len())
	for _, row := range rows {
		if !row.Hidden && !seen[row.ID] && g.Observed(row.ID) {
			seen[row.ID] = true
			ids = append(ids, row.ID)
		}
	}
	return client.PrinterColumns(ctx, g, ids, listed.ResumePoints)
}
