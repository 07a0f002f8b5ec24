package diagnose

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// ExamineObjects explains objects that somebody has waited for in vain. It lists the namespace that
// they are in, or the cluster if they are in several, and leaves out those that are gone meanwhile.
// The error is that of a context that ended, or of a list that nothing can be concluded from.
func ExamineObjects(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, objects []graph.Ref,
	opts Options) (*v1alpha1.Diagnosis, error) {
	s, of, elsewhere, err := surveyObjects(ctx, client, catalog, namespaceOf(objects), objects, opts)
	if err == nil && elsewhere {
		s, of, _, err = surveyObjects(ctx, client, catalog, "", objects, opts)
	}
	if err != nil {
		return nil, err
	}
	return Examine(ctx, client, s, of, opts)
}

// surveyObjects lists a namespace, or everything if it is empty, and finds in it objects, and the
// links that matter for them. Elsewhere says that one leads out of the namespace.
func surveyObjects(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, namespace string,
	objects []graph.Ref, opts Options) (s core.Snapshot, of Subjects, elsewhere bool, err error) {
	builder := graph.NewBuilder()
	list := cluster.ListOptions{Namespace: namespace}
	if in := namespaceOf(objects); in != "" {
		list.Fallback = []string{in}
	}
	listed, err := client.List(ctx, catalog, list, builder)
	if err != nil {
		return s, of, false, err
	}
	g := builder.Build()
	for _, o := range objects {
		if id, ok := g.Lookup(o.UID); ok && g.Observed(id) {
			of.Observed = append(of.Observed, id)
		}
	}
	if len(of.Observed) == 0 {
		of.In = func(graph.ID) bool { return false }
	}
	s = core.Snapshot{Catalog: catalog, Graph: g, Gaps: listed.Gaps}
	s, elsewhere, err = follow(ctx, client, s, namespace, of, opts.Known)
	return s, of, elsewhere, err
}

// namespaceOf is the namespace that all objects are in, or are; empty if there are several.
func namespaceOf(objects []graph.Ref) string {
	all := ""
	for i, o := range objects {
		in := o.Namespace
		if core.OfType(cluster.Namespaces)(o) {
			in = o.Name
		}
		if in == "" || i > 0 && in != all {
			return ""
		}
		all = in
	}
	return all
}
