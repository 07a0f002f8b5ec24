package link

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Links answers for one graph. It is not safe for concurrent use. A nil one, which only Found, Above,
// Content and Belonging may be asked, has none.
type Links struct {
	g      *graph.Graph
	byType map[groupResource][]graph.ID
	found  map[graph.ID][]Found // by Found.Owner
	above  map[graph.ID][]Found // by Found.Dependent; nil until it is asked for
}

type groupResource struct{ group, resource string }

// New returns the links of a graph: those of the rules, which are worked out when they are first
// asked for, and those that were found in what objects contain.
func New(g *graph.Graph, found ...Found) *Links {
	l := &Links{g: g, found: map[graph.ID][]Found{}}
	for _, f := range found {
		l.found[f.Owner()] = append(l.found[f.Owner()], f)
	}
	l.order(found)
	return l
}

// With returns these links with others.
func (l *Links) With(found ...Found) *Links {
	if len(found) == 0 {
		return l
	}
	with := &Links{g: l.g, byType: l.byType, found: maps.Clone(l.found)}
	for owner := range owners(found) {
		with.found[owner] = slices.Clone(with.found[owner]) // which may be that of other links
	}
	for _, f := range found {
		with.found[f.Owner()] = append(with.found[f.Owner()], f)
	}
	with.order(found)
	return with
}

// order has the links of each owner of the found in the order of their turns.
func (l *Links) order(found []Found) {
	byTurn := func(a, b Found) int { return cmp.Compare(a.Turn(), b.Turn()) }
	for owner := range owners(found) {
		slices.SortStableFunc(l.found[owner], byTurn)
	}
}

// owners returns the owners of the found, each once.
func owners(found []Found) map[graph.ID]bool {
	all := map[graph.ID]bool{}
	for _, f := range found {
		all[f.Owner()] = true
	}
	return all
}

// Dependents returns what goes with the object though no ownerReference says so. Of what is inside
// of it these are the objects that nothing else in there owns and, of a cycle, the first: the
// others stand below them.
func (l *Links) Dependents(id graph.ID) []graph.Link {
	if !l.g.Observed(id) {
		return nil
	}
	return append(l.byRule(id), l.named(id)...)
}

// byRule are the dependents by the rules.
func (l *Links) byRule(id graph.ID) []graph.Link {
	owner := l.g.Ref(id)
	rule, ok := Of(owner)
	switch {
	case !ok:
		return nil
	case rule.Inside != nil:
		return links(id, l.g.Heads(slices.Collect(rule.Inside(l.g, owner))), rule.Name)
	}
	return links(id, rule.dependents(l, owner), rule.Name)
}

// named are the dependents that objects name, each once.
func (l *Links) named(id graph.ID) []graph.Link { return l.edges(l.found[id], Found.Dependent, id) }

// Owners are the other sides of the links above an object, each once. Rules are not asked.
func (l *Links) Owners(id graph.ID) []graph.Link { return l.edges(l.Above(id), Found.Owner, id) }

// Content returns all that goes with the object by its rule, and not only what stands at the top.
func (l *Links) Content(id graph.ID) []graph.ID {
	if l == nil {
		return nil
	}
	owner := l.g.Ref(id)
	if rule, ok := Of(owner); ok && rule.Inside != nil {
		return slices.Collect(rule.Inside(l.g, owner))
	}
	var content []graph.ID
	for _, d := range l.byRule(id) {
		content = append(content, d.Dependent)
	}
	return content
}

// edges are the links between an object and others, each of which is far from it. A link without a
// name is one of an ownerReference, which has its row already.
func (l *Links) edges(found []Found, far func(Found) graph.ID, id graph.ID) []graph.Link {
	var all []graph.Link
	seen := map[graph.ID]bool{id: true}
	for _, f := range found {
		if other := far(f); !seen[other] && f.Definition.Name != "" {
			seen[other] = true
			all = append(all, graph.Link{Owner: f.Owner(), Dependent: f.Dependent(), Rule: f.Definition.Name,
				Unconfirmed: !f.Confirmed && l.g.Observed(f.Dependent())})
		}
	}
	return all
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
	for id := range l.g.IDs() {
		if !l.g.Observed(id) {
			continue
		}
		r := l.g.Ref(id)
		key := groupResource{r.Group(), r.Resource}
		l.byType[key] = append(l.byType[key], id)
	}
}
