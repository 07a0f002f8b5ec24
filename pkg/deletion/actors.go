package deletion

import (
	"context"
	"iter"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// mostClasses is of how many finalizers, kinds and namespaces it is looked who removes them, so that
// a plan does not cost some requests for each of hundreds. It is more than mostActors, so that a plan
// says that it left some out whenever this does.
const mostClasses = 64

// actorTypes are the types of what actors need. Where none of them is deleted, no actor goes with
// the deletion.
var actorTypes = []schema.GroupResource{
	cluster.Deployments, cluster.StatefulSets, cluster.DaemonSets, cluster.ServiceAccounts,
	cluster.Roles, cluster.RoleBindings, cluster.ClusterRoles, cluster.ClusterRoleBindings,
}

// findActors finds out which of the finalizers that a plan waits for lose those who remove them with
// it, at one object of each class, or at some where the actor may be another for each. It reads
// nothing if the plan deletes nothing that an actor needs. The error is the end of ctx.
func findActors(ctx context.Context, reader *cluster.Reader, known *finalizer.Registry, p *plan.Plan) (plan.Needs,
	error) {
	set := deletedOf(p)
	if known == nil || !slices.ContainsFunc(set.ids,
		func(id graph.ID) bool { return isOf(p.Graph.Ref(id), actorTypes) }) {
		return plan.Needs{}, nil
	}
	finder := actor.NewFinder(reader, known)
	classes, _ := finder.Classes(p.Graph, blockers(p), mostClasses, byWorkloads)
	type lost struct {
		objects []graph.ID
		by      plan.Removers
	}
	found, _, err := actor.Survey(ctx, finder, p.Graph, classes, mostClasses,
		func(ctx context.Context, c *actor.Class, o *unstructured.Unstructured, a actor.Actor) lost {
			by := set.removers(finder.Parts(ctx, o, a))
			if by != nil && slices.ContainsFunc(finder.Needed(ctx, o, a), set.loses) {
				by = set.orFreed(ctx, finder, o, a, by)
			}
			return lost{c.Objects, by}
		})
	if err != nil {
		return nil, err
	}
	needs := plan.Needs{}
	for _, l := range found {
		for _, id := range l.objects {
			if l.by != nil {
				needs[id] = append(needs[id], l.by)
			}
		}
	}
	return needs, context.Cause(ctx)
}

// deletedSet is what a plan deletes, or begins to.
type deletedSet struct {
	plan *plan.Plan
	ids  []graph.ID
	is   map[graph.ID]bool
	// orphans are the workloads among them that orphan their dependents: their pods go on.
	orphans map[graph.ID]bool
}

func deletedOf(p *plan.Plan) deletedSet {
	ids := slices.Concat(p.Deleted, plan.Objects(p.Deadlocked))
	g := deletedSet{plan: p, ids: ids, is: graph.SetOf(ids), orphans: map[graph.ID]bool{}}
	for _, a := range p.Actions {
		if a.Verb == plan.VerbDelete && a.Policy == plan.Orphan && isOf(p.Graph.Ref(a.Object), workloadTypes) {
			g.orphans[a.Object] = true
		}
	}
	return g
}

// removers are the actors of whose parts one goes; nil if there is one of which none does.
func (g deletedSet) removers(all [][]actor.Part) plan.Removers {
	var removers plan.Removers
	for _, parts := range all {
		var a plan.Actor
		for _, part := range parts {
			if id, ok := g.plan.Graph.Find(part.Resource.Group, part.Resource.Resource, part.Namespace, part.Name); ok &&
				g.is[id] && !g.orphans[id] {
				a = append(a, id)
			}
		}
		if len(a) == 0 {
			return nil
		}
		removers = append(removers, a)
	}
	return removers
}

// orFreed are removers of a finalizer and, where what its actor needs goes, those who remove it
// then in its place; nil if there is one of these of which nothing goes.
func (g deletedSet) orFreed(ctx context.Context, finder *actor.Finder, o *unstructured.Unstructured, a actor.Actor,
	by plan.Removers) plan.Removers {
	who, frees := finder.Freeing(ctx, o, a)
	if !frees {
		return by
	}
	parts := finder.Parts(ctx, o, who)
	if len(parts) == 0 { // of which nothing can be concluded
		return by
	}
	freeing := g.removers(parts)
	if freeing == nil {
		return nil
	}
	return append(by, freeing...)
}

// loses reports whether an object that is needed goes.
func (g deletedSet) loses(n actor.Needed) bool {
	_, goes := g.lacks(n)
	return goes
}

// byWorkloads leaves out the finalizers whose actors have no workloads, which are the control
// plane's.
func byWorkloads(_ string, k finalizer.Known, isKnown bool) bool {
	return !isKnown || k.Alive.HasWorkloads() || k.Alive.Follow != ""
}

// blockers are the objects that a plan waits for, with the finalizers that it waits for.
func blockers(p *plan.Plan) iter.Seq2[graph.ID, []string] {
	return func(yield func(graph.ID, []string) bool) {
		for _, b := range p.Blockers {
			if !yield(b.Object, b.Finalizers) {
				return
			}
		}
	}
}

func isOf(ref graph.Ref, types []schema.GroupResource) bool {
	return slices.Contains(types, ref.GroupResource())
}

// mostActors is of how many finalizers it is looked whether those who remove them run: each costs
// some requests before a plan is shown, and few cascades have more than these. The plan says how many
// were left out.
const mostActors = 16

// findIdle finds out which finalizers that the deletion waits for nobody removes, because something
// keeps their actors from that: of each finalizer and kind at one object. Actors without workloads of
// their own, which are those of the control plane, are not looked for.
func findIdle(ctx context.Context, reader *cluster.Reader, known *finalizer.Registry, p *plan.Plan,
	f *plan.Details) error {
	finder := actor.NewFinder(reader, known)
	classes, more := finder.Classes(p.Graph, blockers(p), mostActors,
		func(_ string, k finalizer.Known, isKnown bool) bool { return isKnown && k.Alive.HasWorkloads() })
	idle, left, err := actor.Survey(ctx, finder, p.Graph, classes, mostActors,
		func(ctx context.Context, c *actor.Class, o *unstructured.Unstructured, a actor.Actor) *v1alpha1.IdleActor {
			obstacle, evidence := finder.Obstacle(ctx, o, a)
			if obstacle == "" {
				return nil
			}
			return &v1alpha1.IdleActor{Object: p.Graph.Ref(c.Objects[0]), Finalizer: c.Finalizer, Actor: a.Who,
				Evidence: evidence, Obstacle: obstacle}
		})
	f.Unexamined = more + left
	for _, w := range idle {
		if w != nil {
			f.Idle = append(f.Idle, *w)
		}
	}
	return err
}

// findIdlePrograms finds out which programs do not run that delete objects because of links, once the
// owner is gone and without a finalizer that would wait for them: of each program at one object. Of
// one by whose name no pack says how it is seen nothing is said. The error is the end of ctx.
func findIdlePrograms(ctx context.Context, reader *cluster.Reader, known *finalizer.Registry, p *plan.Plan,
	f *plan.Details) error {
	finder := actor.NewFinder(reader, known)
	asked := map[string]bool{}
	for _, a := range p.Actions {
		found, ok := p.Link(a.Object, a.Because)
		if !ok || a.Because.Code != plan.LinkDeleted || found.Definition.Deletion.Finalizer != "" ||
			asked[found.Definition.Deletion.By] {
			continue
		}
		asked[found.Definition.Deletion.By] = true
		ref := p.Graph.Ref(a.Object)
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": ref.APIVersion, "kind": ref.Kind}}
		o.SetNamespace(ref.Namespace)
		o.SetName(ref.Name)
		who, ok := finder.Component(ctx, o, found.Definition.Deletion.By)
		idle := v1alpha1.IdleActor{Object: ref, Actor: who.Who, Evidence: who.Says()}
		switch {
		case !ok:
			continue
		case who.NotFound():
			idle.Obstacle = v1alpha1.ActorNotFound
		case who.Life == actor.Dead && len(who.Workloads)+len(who.Scaled) > 0:
			idle.Obstacle = v1alpha1.NotRunning
		default:
			continue
		}
		f.Idle = append(f.Idle, idle)
	}
	return context.Cause(ctx)
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
	set := deletedOf(p)
	by := carriers(p.Graph, known, blockers(p), set.mayLack())
	finder := actor.NewFinder(reader, known)
	ids, _ := upTo(mostNeeding, slices.Sorted(maps.Keys(by)))
	q := newAnswers(ids, func(ctx context.Context, id graph.ID, o *unstructured.Unstructured) (all []plan.Removers) {
		for _, c := range by[id] {
			for _, n := range finder.Needed(ctx, o, c.actor()) {
				part, goes := set.lacks(n)
				if !goes || part == id {
					continue
				}
				if by := set.orFreed(ctx, finder, o, c.actor(), plan.Removers{{part}}); by != nil {
					all = append(all, by)
				}
			}
		}
		return all
	})
	err := survey(ctx, client, p.Graph, q) // of what cannot be read nothing is concluded
	needs := plan.Needs{}
	for id, all := range q.by {
		if len(all) > 0 {
			needs[id] = all
		}
	}
	return needs, err
}

// mayLack returns whether the actor of a finalizer may need something that goes, as far as types
// tell.
func (g deletedSet) mayLack() func(carrier) bool {
	kinds := map[schema.GroupKind]bool{}
	groups := map[string]bool{}
	for _, id := range g.ids {
		ref := g.plan.Graph.Ref(id)
		kinds[schema.GroupKind{Group: ref.Group(), Kind: ref.Kind}], groups[ref.Group()] = true, true
	}
	return func(c carrier) bool {
		return !c.known.Fallback && anyNeed(c.known.Needs, func(n finalizer.Need) bool {
			group, unfilled := c.known.Fill(n.Group, finalizer.Object{Group: c.object.Group(), Finalizer: c.finalizer})
			return len(unfilled) > 0 || kinds[schema.GroupKind{Group: group, Kind: n.Kind}] || n.KindField != "" && groups[group]
		})
	}
}

// anyNeed reports whether one of some needs matches, or one of what these need.
func anyNeed(needs []finalizer.Need, matches func(finalizer.Need) bool) bool {
	return slices.ContainsFunc(needs, func(n finalizer.Need) bool { return matches(n) || anyNeed(n.Needs, matches) })
}

// lacks returns what goes of an object that is needed. One that has finalizers of others stays
// until these are removed, as a ProviderConfig does while it is used, and nobody knows whether what
// needs it is gone by then.
func (g deletedSet) lacks(n actor.Needed) (graph.ID, bool) {
	if n.Type.Namespaced && n.Namespace == "" {
		return 0, false
	}
	id, ok := g.plan.Graph.Find(n.Type.Group, n.Type.Resource, n.Namespace, n.Name)
	if !ok || !g.is[id] {
		return 0, false
	}
	return id, len(plan.Foreign(g.plan.Graph.Finalizers(id))) == 0
}

// workloadTypes are the types of workloads.
var workloadTypes = []schema.GroupResource{cluster.Deployments, cluster.StatefulSets, cluster.DaemonSets}
