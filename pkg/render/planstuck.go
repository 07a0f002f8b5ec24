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
	var causes []graph.ID
	objects := map[graph.ID][]string{}
	var about []graph.ID
	for _, s := range p.Stuck() {
		if s.Because.Code != plan.ActorDeleted {
			continue
		}
		if objects[s.Because.Cause] == nil {
			causes = append(causes, s.Because.Cause)
		}
		objects[s.Because.Cause] = append(objects[s.Because.Cause], located(p.Graph, s.Object))
		about = append(about, s.Object)
	}
	var parts []string
	for _, cause := range causes {
		are, their := "is", "its"
		if len(objects[cause]) > 1 {
			are, their = "are", "their"
		}
		parts = append(parts, fmt.Sprintf("%s %s stuck once %s is deleted: nobody can remove %s finalizers then",
			phrase.FirstFew(objects[cause], maxNamed), are, located(p.Graph, cause), their))
	}
	if len(parts) == 0 {
		return nil
	}
	text := strings.Join(parts, "; ")
	if p.Unordered == "" && len(p.Stages()) == 0 {
		text += "; delete what has the finalizers first, and the rest when it is gone: --ordered does so"
	}
	return []remark{p.about(text, about...)}
}

// remarkAbandoned says whose deletion hangs afterwards, though they are not deleted now.
func (p Plan) remarkAbandoned() []remark {
	var all []remark
	for _, a := range p.Abandoned {
		var names []string
		for _, ref := range a.First {
			names = append(names, Escape(ref.Located()))
		}
		if more := a.Count - len(a.First); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		all = append(all, remark{fmt.Sprintf("%s: nobody removes the finalizer %s of %s once %s is deleted",
			hang(a.Count), Escape(a.Finalizer), phrase.And(names), located(p.Graph, a.Actor)), a.First})
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
			var names []string
			for _, id := range u.Namespaces {
				names = append(names, located(p.Graph, id))
			}
			hangs = phrase.FirstFew(names, maxNamed) + " " + phrase.Plural(len(names), "is", "are") +
				" stuck then, and other namespaces that are deleted can hang"
		}
		service := Escape(u.APIService.Located())
		all = append(
			all, remark{fmt.Sprintf("without %s, %s has no backend, and that blocks every namespace deletion: %s; delete %s too",
				located(p.Graph, u.Backend), service, hangs, service), []graph.Ref{u.APIService}})
	}
	return all
}
