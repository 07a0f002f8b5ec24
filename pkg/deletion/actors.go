package deletion

import (
	"context"
	"iter"
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
	going := goingOf(p)
	if known == nil || !slices.ContainsFunc(going.ids,
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
			return lost{c.Objects, going.removers(finder.Parts(ctx, o, a))}
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

// going is what a plan deletes, or begins to.
type going struct {
	plan *plan.Plan
	ids  []graph.ID
	is   map[graph.ID]bool
	// orphans are the workloads among them that orphan their dependents: their pods go on.
	orphans map[graph.ID]bool
}

func goingOf(p *plan.Plan) going {
	g := going{plan: p, ids: slices.Clone(p.Deleted), is: map[graph.ID]bool{}, orphans: map[graph.ID]bool{}}
	for _, a := range p.Actions {
		if a.Verb == plan.VerbDelete && a.Policy == plan.Orphan && isOf(p.Graph.Ref(a.Object), workloadTypes) {
			g.orphans[a.Object] = true
		}
	}
	for _, d := range p.Deadlocked {
		g.ids = append(g.ids, d.Object)
	}
	for _, id := range g.ids {
		g.is[id] = true
	}
	return g
}

// removers are the actors of whose parts one goes; nil if there is one of which none does.
func (g going) removers(all [][]actor.Part) plan.Removers {
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
	return slices.Contains(types, schema.GroupResource{Group: ref.Group(), Resource: ref.Resource})
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
