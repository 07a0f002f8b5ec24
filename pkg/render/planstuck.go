package render

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// remarkStuck says which objects keep finalizers that nobody removes, because who does so goes first, and what to do instead.
func (p Plan) remarkStuck() string {
	var causes []graph.ID
	objects := map[graph.ID][]string{}
	for _, s := range p.Stuck() {
		if s.Because.Code != plan.ActorDeleted {
			continue
		}
		if objects[s.Because.Cause] == nil {
			causes = append(causes, s.Because.Cause)
		}
		objects[s.Because.Cause] = append(objects[s.Because.Cause], located(p.Graph, s.Object))
	}
	var parts []string
	for _, cause := range causes {
		are, their := "is", "its"
		if len(objects[cause]) > 1 {
			are, their = "are", "their"
		}
		parts = append(parts, fmt.Sprintf("%s %s stuck once %s is deleted: nobody can remove %s finalizers then", phrase.FirstFew(objects[cause], maxNamed), are, located(p.Graph, cause), their))
	}
	if len(parts) == 0 {
		return ""
	}
	if p.Unordered != "" || len(p.Stages()) > 0 {
		return strings.Join(parts, "; ")
	}
	return strings.Join(parts, "; ") + "; delete what has the finalizers first, and the rest when it is gone: --ordered does so"
}

// remarkAbandoned says whose deletion hangs afterwards, though they are not deleted now.
func (p Plan) remarkAbandoned() string {
	var lines []string
	for _, a := range p.Abandoned {
		var names []string
		for _, ref := range a.First {
			names = append(names, Escape(ref.Located()))
		}
		if more := a.Count - len(a.First); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		lines = append(lines, fmt.Sprintf("%s: nobody removes the finalizer %s of %s once %s is deleted",
			hang(a.Count), Escape(a.Finalizer), phrase.And(names), located(p.Graph, a.Actor)))
	}
	return strings.Join(lines, "\n")
}

// hang says that objects hang when they are deleted.
func hang(n int) string {
	if n == 1 {
		return "1 object hangs if it is deleted afterwards"
	}
	return fmt.Sprintf("%d objects hang if they are deleted afterwards", n)
}

// remarkUnserved says which APIServices have no backend afterwards, and what hangs because of that.
func (p Plan) remarkUnserved() string {
	var lines []string
	for _, u := range p.Unserved {
		hangs := "a namespace that is deleted afterwards can hang"
		if len(u.Namespaces) > 0 {
			var names []string
			for _, id := range u.Namespaces {
				names = append(names, located(p.Graph, id))
			}
			hangs = phrase.FirstFew(names, maxNamed) + " " + phrase.Plural(len(names), "is", "are") + " stuck then, and other namespaces that are deleted can hang"
		}
		service := Escape(u.APIService.Located())
		lines = append(lines, fmt.Sprintf("without %s, %s has no backend, and that blocks every namespace deletion: %s; delete %s too",
			located(p.Graph, u.Backend), service, hangs, service))
	}
	return strings.Join(lines, "\n")
}
