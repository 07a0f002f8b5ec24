package archive

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Contents are the objects that an archive is written of.
type Contents struct {
	// Graph has the objects, and the owners by which they are put in order.
	Graph *graph.Graph
	// Objects are the objects in any order. Those that were not listed, as absent owners, are left
	// out.
	Objects []graph.ID
	// Unconfirmed are objects to which only unconfirmed links lead, and that are left out because
	// of it.
	Unconfirmed []graph.ID
	// Links are the edges that no ownerReference records; nil for those that follow from the graph.
	Links *link.Links

	// settings are the fields that are set in objects before they are deleted, by uid.
	settings map[string][]plan.Setting
}

// OfPlan are the objects that a plan deletes or changes: those that were named, those that are
// deleted, and those that an action is about, as far as they belong to what was named.
func OfPlan(p *plan.Plan) Contents {
	return Contents{Graph: p.Graph, Objects: touched(p), Unconfirmed: p.Unconfirmed(), settings: settingsOf(p)}
}

// OfObjects are the objects that each passes on, with the owners by which they are put in order.
func OfObjects(each func(add func(graph.Type, graph.Object))) Contents {
	b := graph.NewBuilder()
	each(func(t graph.Type, o graph.Object) {
		b.Serve(t)
		list := b.Listing(t, o.Namespace)
		list.Add(o)
		list.Complete()
	})
	c := Contents{Graph: b.Build()}
	for i := range c.Graph.Len() {
		c.Objects = append(c.Objects, graph.ID(i))
	}
	return c
}

// Listed are the objects without those that were not listed, sorted.
func (c Contents) Listed() []graph.ID {
	ids := slices.Clone(c.Objects)
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id graph.ID) bool { return !c.Graph.Observed(id) })
}

// ordered are the objects in the order of the archive.
func (c Contents) ordered() []graph.ID {
	links := c.Links
	if links == nil {
		links = link.New(c.Graph)
	}
	return ownersFirst(c.Graph, links, c.Listed())
}

// touched returns what a plan deletes or changes, sorted: what goes, what any action is about, and
// what was named.
func touched(p *plan.Plan) []graph.ID {
	ids := slices.Concat(p.Roots, p.Deleted)
	for _, a := range p.Actions {
		ids = append(ids, a.Object)
	}
	ids = slices.DeleteFunc(ids, func(id graph.ID) bool { return !p.Belongs(id) })
	return Contents{Graph: p.Graph, Objects: ids}.Listed()
}

// ownersFirst orders sorted objects so that each comes after those of them that own it: its
// definition, its namespace, its owners in the order of its references. A cycle begins with the
// member that is reached first.
func ownersFirst(g *graph.Graph, links *link.Links, ids []graph.ID) []graph.ID {
	owners := make(map[graph.ID][]graph.ID, len(ids))
	for _, id := range ids {
		owners[id] = nil
	}
	for _, id := range ids {
		for _, l := range links.Dependents(id) {
			if _, wanted := owners[l.Dependent]; wanted {
				owners[l.Dependent] = append(owners[l.Dependent], id)
			}
		}
	}
	for _, id := range ids {
		for e := range g.Owners(id) {
			if _, wanted := owners[e.Owner]; wanted {
				owners[id] = append(owners[id], e.Owner)
			}
		}
	}
	order := make([]graph.ID, 0, len(ids))
	visited := make(map[graph.ID]bool, len(ids))
	var visit func(graph.ID)
	visit = func(id graph.ID) {
		if visited[id] {
			return
		}
		visited[id] = true
		for _, owner := range owners[id] {
			visit(owner)
		}
		order = append(order, id)
	}
	for _, id := range ids {
		visit(id)
	}
	return order
}
