package deletion

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// awaits are the dependents, by ownerReference, that the actor of a finalizer deletes itself and
// waits for before it removes the finalizer. They are links, so that a plan has them go before
// their owner: the collector would delete them only after it. A CustomResourceDefinition goes when
// its instances are gone, which is later.
func awaits(known *finalizer.Registry, g *graph.Graph) []link.Found {
	if known == nil {
		return nil
	}
	type key struct {
		t         graph.Type
		finalizer string
	}
	entries := map[key]*awaiting{}
	var all []link.Found
	for id := range g.IDs() {
		for _, name := range g.Finalizers(id) {
			t, _ := g.Type(id)
			entry, looked := entries[key{t, name}]
			if !looked {
				entry = awaitingOf(known, t, name)
				entries[key{t, name}] = entry
			}
			if entry != nil {
				all = append(all, entry.found(g, id)...)
			}
		}
	}
	return all
}

// awaiting is an entry of a pack that says what its actor waits for.
type awaiting struct {
	known      finalizer.Known
	definition *link.Definition
}

func awaitingOf(known *finalizer.Registry, t graph.Type, name string) *awaiting {
	k, ok := known.Lookup(name, t.Group, t.Kind)
	if !ok || len(k.WaitsFor) == 0 {
		return nil
	}
	return &awaiting{k, &link.Definition{ID: k.ID,
		Deletion: link.Deletion{Of: link.End, By: k.Component, Finalizer: name, Policy: link.Background,
			Waits: link.WaitsAlways}}}
}

// found are the dependents of one object.
func (a *awaiting) found(g *graph.Graph, owner graph.ID) []link.Found {
	var all []link.Found
	for e := range g.Dependents(owner) {
		t, ok := g.Type(e.Dependent)
		isCRD := t.Group == cluster.CRDs.Group && t.Resource == cluster.CRDs.Resource
		if !ok || isCRD || !a.known.Awaits(t.Group, t.Kind) || !g.Observed(e.Dependent) {
			continue
		}
		all = append(all, link.Found{
			Definition: a.definition, Source: owner, End: e.Dependent, Field: "metadata.ownerReferences",
			Effect:    link.Effect{Deletes: true, Policy: link.Background, Waits: true},
			Confirmed: true,
		})
	}
	return all
}
