package deletion

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// mostNeeding is of how many objects it is read what the actors of their finalizers need. Of the
// others nothing is said.
const mostNeeding = 500

// findNeeded finds out which objects with finalizers lose, with the deletion, another one without
// which the actor cannot do its work, by the needs of packs: a ProviderConfig, or the Secret with
// its credentials. The names are in the objects, so that those are read that may need something
// that goes. A Secret that a pod mounts is not looked for: a program that runs goes on with what it
// has read. The error is the end of ctx.
func findNeeded(ctx context.Context, client *cluster.Client, reader *cluster.Reader, known *finalizer.Registry,
	p *plan.Plan) (plan.Needs, error) {
	if known == nil {
		return nil, nil
	}
	going := goingOf(p)
	by := going.needing(known)
	finder := actor.NewFinder(reader, known)
	needs := plan.Needs{}
	var mu sync.Mutex
	ids, _ := upTo(mostNeeding, slices.Sorted(maps.Keys(by)))
	err := client.ForEachObject(ctx, cluster.RequestObjects(p.Graph, ids), func(o *unstructured.Unstructured) error {
		id, ok := p.Graph.Lookup(string(o.GetUID()))
		if !ok {
			return nil
		}
		for _, a := range by[id] {
			for _, n := range finder.Needed(ctx, o, a) {
				part, goes := going.lacks(n)
				if !goes || part == id {
					continue
				}
				mu.Lock()
				needs[id] = append(needs[id], plan.Removers{{part}})
				mu.Unlock()
			}
		}
		return nil
	})
	_ = err // of what cannot be read nothing is concluded
	return needs, context.Cause(ctx)
}

// needing are the objects that may need something that goes, with the actors that do, as far as
// their types tell.
func (g going) needing(known *finalizer.Registry) map[graph.ID][]actor.Actor {
	kinds := map[schema.GroupKind]bool{}
	groups := map[string]bool{}
	for _, id := range g.ids {
		ref := g.plan.Graph.Ref(id)
		kinds[schema.GroupKind{Group: ref.Group(), Kind: ref.Kind}], groups[ref.Group()] = true, true
	}
	by := map[graph.ID][]actor.Actor{}
	entries := map[[3]string]*actor.Actor{}
	for _, b := range g.plan.Blockers {
		ref := g.plan.Graph.Ref(b.Object)
		for _, name := range b.Finalizers {
			c := [3]string{ref.Group(), ref.Kind, name}
			entry, looked := entries[c]
			if !looked {
				k, ok := known.Lookup(name, ref.Group(), ref.Kind)
				mayGo := func(n finalizer.Need) bool {
					group, unfilled := k.Fill(n.Group, finalizer.Object{Group: ref.Group(), Finalizer: name})
					return len(unfilled) > 0 || kinds[schema.GroupKind{Group: group, Kind: n.Kind}] || n.KindField != "" &&
						groups[group]
				}
				if ok && !k.Fallback && anyNeed(k.Needs, mayGo) {
					entry = &actor.Actor{Finalizer: name, Known: k, IsKnown: true}
				}
				entries[c] = entry
			}
			if entry != nil {
				by[b.Object] = append(by[b.Object], *entry)
			}
		}
	}
	return by
}

// anyNeed says whether one of some needs matches, or one of what these need.
func anyNeed(needs []finalizer.Need, matches func(finalizer.Need) bool) bool {
	return slices.ContainsFunc(needs, func(n finalizer.Need) bool { return matches(n) || anyNeed(n.Needs, matches) })
}

// lacks returns what goes of an object that is needed. One that has finalizers of others stays
// until these are removed, as a ProviderConfig does while it is used, and nobody knows whether what
// needs it is gone by then.
func (g going) lacks(n actor.Needed) (graph.ID, bool) {
	if n.Type.Namespaced && n.Namespace == "" {
		return 0, false
	}
	id, ok := g.plan.Graph.Find(n.Type.Group, n.Type.Resource, n.Namespace, n.Name)
	if !ok || !g.is[id] {
		return 0, false
	}
	return id, len(plan.Foreign(g.plan.Graph.Finalizers(id))) == 0
}
