package deletion

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Examined is what there is to know of a plan of collect besides what it learns.
type Examined struct {
	// Known is what is known of finalizers; nil if nothing waits for one.
	Known *finalizer.Registry
	// Unfinished says why deletions would not complete, and Unjudged is that of a Planned; empty if
	// there is nothing to say.
	Unfinished, Unjudged string
}

// Examine has a plan that collect made learn what a plan of a deletion learns, and tells the rest.
// The plan does the same as before. Who creates objects again is not looked for: owners that are
// absent do not tell. It ends with ctx.
func Examine(ctx context.Context, client *cluster.Client, known func() (*finalizer.Registry, error),
	p *plan.Plan) (Examined, error) {
	catalog, err := client.Discover(ctx)
	if err != nil {
		return Examined{}, err
	}
	pl, err := newPlanner(client, catalog, Request{GC: ClientGC, Known: known})
	if err != nil {
		return Examined{}, err
	}
	reader := cluster.NewReader(pl.client, catalog)
	all := p.Released()
	apis, err := findUnserved(ctx, reader, all)
	if err != nil {
		return Examined{}, err
	}
	needs, err := findActors(ctx, reader, pl.known, all)
	if err != nil {
		return Examined{}, err
	}
	details, err := readDetails(ctx, pl.client, all)
	if err != nil {
		return Examined{}, err
	}
	planned := &Planned{Plan: all, planner: pl, unserved: apis.services}
	if err := pl.learnMore(ctx, reader, planned, &details); err != nil {
		return Examined{}, err
	}
	p.Learn(details)
	return Examined{planned.Known, unreleased(p.Graph, needs),
		unjudged(ctx, reader, p, func(plan.Action) bool { return true })}, nil
}

// unreleased says which object keeps a finalizer because each controller that removes it is deleted;
// empty if none does.
func unreleased(g *graph.Graph, needs plan.Needs) string {
	if len(needs) == 0 {
		return ""
	}
	first := slices.Min(slices.Collect(maps.Keys(needs)))
	return fmt.Sprintf("nobody removes the finalizers of %s once %s is deleted", g.Ref(first).Located(),
		g.Ref(needs[first][0][0][0]).Located())
}

// foresee finds out what of a plan nobody does any more once it is carried out: which finalizers
// nobody removes, which namespaces the namespace controller does not finish, and which objects
// nobody can delete.
func (pl *planner) foresee(ctx context.Context, reader *cluster.Reader, known *finalizer.Registry, p *Planned) error {
	needs, err := findActors(ctx, reader, known, p.Plan)
	if err != nil {
		return err
	}
	needed, err := findNeeded(ctx, pl.client, reader, known, p.Plan)
	if err != nil {
		return err
	}
	backends, err := findBackends(ctx, reader, p.Plan)
	if err != nil {
		return err
	}
	apis, err := findUnserved(ctx, reader, p.Plan)
	if err != nil {
		return err
	}
	p.releases = merged(needs, needed, backends)
	p.needs, p.unserved = merged(p.releases, apis.needs), apis.services
	p.Plan = p.Without(apis.refused)
	return nil
}

// merged are all needs of some.
func merged(all ...plan.Needs) plan.Needs {
	needs := plan.Needs{}
	for _, more := range all {
		for id, removers := range more {
			needs[id] = slices.Concat(needs[id], removers)
		}
	}
	return needs
}

// apisLost are the APIServices that lose what answers them with a plan, and what that means for the
// plan: which namespaces and which finalizers wait for them, and which objects nobody can delete
// any more.
type apisLost struct {
	services []v1alpha1.Unserved
	needs    plan.Needs
	refused  map[graph.ID]string
}

// findUnserved finds out which APIServices a plan leaves without what answers them, though it does
// not delete them. If they cannot be listed, nothing is said. The error is the end of ctx.
func findUnserved(ctx context.Context, reader *cluster.Reader, p *plan.Plan) (apisLost, error) {
	u := apisLost{needs: plan.Needs{}, refused: map[graph.ID]string{}}
	going := goingOf(p)
	if !slices.ContainsFunc(going.ids, func(id graph.ID) bool { return isOf(p.Graph.Ref(id), backendTypes) }) {
		return u, nil
	}
	all, err := reader.ListObjects(ctx, cluster.APIServices, "", cluster.Selection{})
	if err != nil {
		return u, context.Cause(ctx)
	}
	namespaces := sync.OnceValue(func() []graph.ID { return lasting(p) })
	for _, o := range all {
		b, calls := admission.APIService(o)
		id, listed := p.Graph.Find(cluster.APIServices.Group, cluster.APIServices.Resource, "", o.GetName())
		if _, goes := slices.BinarySearch(p.Deleted, id); !calls || listed && goes {
			continue
		}
		if part, goes := going.behind(ctx, reader, b); goes {
			u.add(p, o, part, namespaces())
		}
	}
	return u, context.Cause(ctx)
}

// add adds what waits for an APIService whose backend goes, and who cannot be deleted without it.
func (u *apisLost) add(p *plan.Plan, o *unstructured.Unstructured, part graph.ID, namespaces []graph.ID) {
	service := v1alpha1.Unserved{
		APIService: graph.Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Resource: cluster.APIServices.Resource,
			Name: o.GetName(), UID: string(o.GetUID())},
		Backend: p.Graph.Ref(part),
	}
	for _, id := range namespaces {
		service.Namespaces = append(service.Namespaces, p.Graph.Ref(id))
		u.needs[id] = append(u.needs[id], plan.Removers{{part}})
	}
	u.services = append(u.services, service)
	gv := schema.GroupVersion{Group: status.Nested(o, "spec", "group"), Version: status.Nested(o, "spec", "version")}
	serves := func(id graph.ID) bool {
		t, ok := p.Graph.Type(id)
		return ok && t.Group == gv.Group && t.Version == gv.Version
	}
	for _, b := range p.Blockers {
		if serves(b.Object) {
			u.needs[b.Object] = append(u.needs[b.Object], plan.Removers{{part}})
		}
	}
	message := fmt.Sprintf("without %s, %s has no backend", service.Backend.Located(), service.APIService.Located())
	for _, a := range p.Actions { // the requests of this command are sent before
		if a.Verb == plan.VerbDelete && a.By != plan.ByClient && serves(a.Object) {
			u.refused[a.Object] = message
		}
	}
}

// lasting are the namespaces that a plan deletes and that the namespace controller does not finish
// at once.
func lasting(p *plan.Plan) []graph.ID {
	var all []graph.ID
	rounds := plan.TakesRounds(p.Graph)
	for _, id := range goingOf(p).ids {
		ref := p.Graph.Ref(id)
		if ref.Group() == "" && ref.Resource == cluster.Namespaces.Resource && rounds[ref.Name] {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all
}

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
