package diagnose

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// ExamineObjects explains objects that somebody has waited for in vain. It lists the namespace that they are in, or the cluster if they are in several, and
// leaves out those that are gone meanwhile. The error is that of a context that ended, or of a list that nothing can be concluded from.
func ExamineObjects(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, objects []graph.Ref, opts Options) (*v1alpha1.Diagnosis, error) {
	builder := graph.NewBuilder()
	listed, err := client.List(ctx, catalog, cluster.ListOptions{Namespace: namespaceOf(objects)}, builder)
	if err != nil {
		return nil, err
	}
	g := builder.Build()
	var of Subjects
	for _, o := range objects {
		if id, ok := g.Lookup(o.UID); ok && g.Observed(id) {
			of.Observed = append(of.Observed, id)
		}
	}
	if len(of.Observed) == 0 {
		of.In = func(graph.ID) bool { return false }
	}
	return Examine(ctx, client, Snapshot{Catalog: catalog, Graph: g, Gaps: listed.Gaps}, of, opts)
}

// namespaceOf is the namespace that all objects are in, or are; empty if there are several.
func namespaceOf(objects []graph.Ref) string {
	all := ""
	for i, o := range objects {
		in := o.Namespace
		if ofType(cluster.Namespaces)(o) {
			in = o.Name
		}
		if in == "" || i > 0 && in != all {
			return ""
		}
		all = in
	}
	return all
}
