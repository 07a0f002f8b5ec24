package render

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// Quoted names an object as kubectl's messages do: deployment.apps "web" in shop namespace.
func Quoted(r graph.Ref) string { return Escape(r.Quoted()) }

// DeletedFrom says of an object that it is deleted, as kubectl delete does: deployment.apps "web"
// deleted from shop namespace.
func DeletedFrom(r graph.Ref) string { return Escape(r.DeletedFrom()) }

// KindName names an object as the tree does: Deployment/web.
func KindName(r graph.Ref) string { return Escape(r.KindName()) }

// KindNames names objects as the tree does.
func KindNames(refs ...graph.Ref) []string {
	names := make([]string, len(refs))
	for i, r := range refs {
		names[i] = KindName(r)
	}
	return names
}

// KindNamesOf names objects of a graph as the tree does.
func KindNamesOf(g *graph.Graph, ids []graph.ID) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = KindName(g.Ref(id))
	}
	return names
}

// TypeName names an object as kubectl's -o name does: deployment.apps/web.
func TypeName(r graph.Ref) string { return Escape(r.TypeName()) }
