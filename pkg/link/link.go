package link

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// The rules, as they are named in output.
const (
	// CRD: a CustomResourceDefinition takes all its instances along; the API server deletes them (API-060).
	CRD = "crd"
	// Namespace: a namespace takes its content along; the namespace controller deletes it (NS-001).
	Namespace = "namespace"
)

// Links answers for one graph. It is not safe for concurrent use.
type Links struct {
	g      *graph.Graph
	byType map[groupResource][]graph.ID
}

type groupResource struct{ group, resource string }

// New returns the links of a graph; they are worked out when they are first asked for.
func New(g *graph.Graph) *Links { return &Links{g: g} }

// Dependents returns what goes with the object though no ownerReference says so. Of a namespace's content these are the
// objects that nothing else in it owns and, of a cycle, the first: the others stand below them.
func (l *Links) Dependents(id graph.ID) []graph.Link {
	r := l.g.Ref(id)
	switch {
	case !l.g.Seen(id):
		return nil
	case r.Group() == "apiextensions.k8s.io" && r.Resource == "customresourcedefinitions":
		plural, group, _ := strings.Cut(r.Name, ".")
		l.index()
		return links(id, l.byType[groupResource{group, plural}], CRD)
	case r.Group() == "" && r.Resource == "namespaces":
		return links(id, l.g.Heads(slices.Collect(l.g.InNamespace(r.Name))), Namespace)
	}
	return nil
}

func links(owner graph.ID, dependents []graph.ID, rule string) []graph.Link {
	all := make([]graph.Link, len(dependents))
	for i, id := range dependents {
		all[i] = graph.Link{Owner: owner, Dependent: id, Rule: rule}
	}
	return all
}

func (l *Links) index() {
	if l.byType != nil {
		return
	}
	l.byType = map[groupResource][]graph.ID{}
	for i := range l.g.Len() {
		id := graph.ID(i)
		if !l.g.Seen(id) {
			continue
		}
		r := l.g.Ref(id)
		key := groupResource{r.Group(), r.Resource}
		l.byType[key] = append(l.byType[key], id)
	}
}
