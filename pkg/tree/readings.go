package tree

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// observed are the objects of rows that can be asked about, each once.
func observed(g *graph.Graph, rows []graph.Row) []graph.ID {
	ids := make([]graph.ID, 0, len(rows))
	seen := make([]bool, g.Len())
	for _, row := range rows {
		if !row.Hidden && !seen[row.ID] && g.Observed(row.ID) {
			seen[row.ID] = true
			ids = append(ids, row.ID)
		}
	}
	return ids
}
