package render

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// remarkStuck says which objects keep finalizers that nobody removes, because who does so goes
// first, and what to do instead.
func (p Plan) remarkStuck() []remark {
	var about []graph.ID
	causes := map[graph.ID]graph.ID{}
	for _, s := range p.Stuck() {
		if s.Because.Code == plan.ActorDeleted {
			about, causes[s.Object] = append(about, s.Object), s.Because.Cause
		}
	}
	var parts []string
	for cause, ids := range groups(about, func(id graph.ID) (graph.ID, graph.ID) { return causes[id], id }) {
		parts = append(parts, fmt.Sprintf("%s %s stuck once %s is deleted: nobody can remove %s finalizers then",
			fewLocated(p.Graph, ids), phrase.Plural(len(ids), "is", "are"), located(p.Graph, cause),
			phrase.Plural(len(ids), "its", "their")))
	}
	text := strings.Join(parts, "; ")
	if p.Unordered == "" && len(p.Stages()) == 0 {
		text += "; delete what has the finalizers first, and the rest when it is gone: --ordered does so"
	}
	return p.of(about, "%s", text)
}

// remarkAbandoned says whose deletion hangs afterwards, though they are not deleted now.
func (p Plan) remarkAbandoned() []remark {
	var all []remark
	for _, a := range p.Abandoned {
		names := phrase.Words(a.Objects, refLocated)
		if more := a.Count - len(a.Objects); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		all = append(all, remark{fmt.Sprintf("%s: nobody removes the finalizer %s of %s once %s is deleted",
			hang(a.Count), Escape(a.Finalizer), phrase.And(names), Escape(a.Actor.Located())), a.Objects})
	}
	return all
}

// hang says that objects hang when they are deleted.
func hang(n int) string {
	if n == 1 {
		return "1 object hangs if it is deleted afterwards"
	}
	return fmt.Sprintf("%d objects hang if they are deleted afterwards", n)
}

// remarkUnserved says which APIServices have no backend afterwards, and what hangs because of that.
func (p Plan) remarkUnserved() []remark {
	var all []remark
	for _, u := range p.Unserved {
		hangs := "a namespace that is deleted afterwards can hang"
		if len(u.Namespaces) > 0 {
			names := phrase.Words(u.Namespaces, refLocated)
			hangs = few(names) + " " + phrase.Plural(len(names), "is", "are") +
				" stuck then, and other namespaces that are deleted can hang"
		}
		service := Escape(u.APIService.Located())
		all = append(
			all, remark{fmt.Sprintf("without %s, %s has no backend, and that blocks every namespace deletion: %s; delete %s too",
				Escape(u.Backend.Located()), service, hangs, service), []graph.Ref{u.APIService}})
	}
	return all
}
