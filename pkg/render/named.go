package render

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Escape makes text that an object or a server supplied safe to print on one line of a terminal.
func Escape(s string) string { return phrase.Escape(s) }

// Quoted names an object as kubectl's messages do: deployment.apps "web" in shop namespace.
func Quoted(r graph.Ref) string { return Escape(r.Quoted()) }

// DeletedFrom says of an object that it is deleted, as kubectl delete does: deployment.apps "web"
// deleted from shop namespace.
func DeletedFrom(r graph.Ref) string { return Escape(r.DeletedFrom()) }

// KindName names an object as the tree does: Deployment/web.
func KindName(r graph.Ref) string { return Escape(r.KindName()) }

// KindNames names objects as the tree does.
func KindNames(refs ...graph.Ref) []string {
	return phrase.Words(refs, KindName)
}

// KindNamesOf names objects of a graph as the tree does.
func KindNamesOf(g *graph.Graph, ids []graph.ID) []string {
	return phrase.Words(ids, func(id graph.ID) string { return KindName(g.Ref(id)) })
}

// TypeName names an object as kubectl's -o name does: deployment.apps/web.
func TypeName(r graph.Ref) string { return Escape(r.TypeName()) }
