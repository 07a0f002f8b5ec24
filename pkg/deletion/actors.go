package deletion

import (
	"context"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// mostClasses is of how many finalizers, kinds and namespaces it is looked who removes them.
const mostClasses = 64

// actorTypes are the types of what actors need. Where none of them is deleted, no actor goes with
// the deletion.
var actorTypes = []schema.GroupResource{
	cluster.Deployments, cluster.StatefulSets, cluster.DaemonSets, cluster.ServiceAccounts,
	cluster.Roles, cluster.RoleBindings, cluster.ClusterRoles, cluster.ClusterRoleBindings,
}

// class are the objects of a plan whose finalizer the same actor removes, as far as can be told
// without reading them. findActors finds out which of the finalizers that a plan waits for lose
// those who remove them with it, at one object of each class. It reads nothing if the plan deletes
// nothing that an actor needs. The error is the end of ctx.
func findActors(ctx context.Context, reader *cluster.Reader, known *finalizer.Registry, p *plan.Plan) (plan.Needs,
	error) {
	going := goingOf(p)
	if known == nil || !slices.ContainsFunc(going.ids,
		func(id graph.ID) bool { return isOf(p.Graph.Ref(id), actorTypes) }) {
		return plan.Needs{}, nil
	}
	finder := actor.NewFinder(reader, known)
	classes := finder.Classes(p.Graph, blockers(p), mostClasses, byWorkloads)
	found := make([]plan.Removers, len(classes))
	err := finder.Survey(ctx, p.Graph, classes,
		func(ctx context.Context, i int, o *unstructured.Unstructured, a actor.Actor) {
			found[i] = going.removers(finder.Parts(ctx, o, a))
		})
	if err != nil {
		return nil, err
	}
	needs := plan.Needs{}
	for i, c := range classes {
		for _, id := range c.Objects {
			if found[i] != nil {
				needs[id] = append(needs[id], found[i])
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
// plane's. An operator that no pack knows may have an installation for each namespace.
func byWorkloads(_ string, k finalizer.Known, isKnown bool) (looked, byNamespace bool) {
	if !isKnown {
		return true, true
	}
	return k.Alive.HasWorkloads() || k.Alive.Follow != "", k.Alive.Instance.Namespace
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
