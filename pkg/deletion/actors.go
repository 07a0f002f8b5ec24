package deletion

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
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

// actorTypes are the types of what actors need. Where none of them is deleted, no actor goes with the deletion.
var actorTypes = []schema.GroupResource{
	cluster.Deployments, cluster.StatefulSets, cluster.DaemonSets, cluster.ServiceAccounts,
	cluster.Roles, cluster.RoleBindings, cluster.ClusterRoles, cluster.ClusterRoleBindings,
}

// class are the objects of a plan whose finalizer the same actor removes, as far as can be told without reading them.
type class struct {
	group, kind, namespace, finalizer string
}

// findActors finds out which of the finalizers that a plan waits for lose those who remove them with it, at one object of each class. It reads nothing if the plan deletes
// nothing that an actor needs. The error is the end of ctx.
func findActors(ctx context.Context, client *cluster.Client, reader *cluster.Reader, known *finalizer.Registry, p *plan.Plan) (plan.Needs, error) {
	going := goingOf(p)
	if known == nil || !slices.ContainsFunc(going.ids, func(id graph.ID) bool { return isOf(p.Graph.Ref(id), actorTypes) }) {
		return plan.Needs{}, nil
	}
	classes, members := classesOf(known, p.Graph, p.Blockers)
	finder := actor.NewFinder(reader, known)
	found := make([]plan.Removers, len(classes))
	err := eachClass(ctx, client, finder, p.Graph, classes, members, func(ctx context.Context, i int, o *unstructured.Unstructured, a actor.Actor) {
		found[i] = going.removers(finder.Parts(ctx, o, a))
	})
	if err != nil {
		return nil, err
	}
	needs := plan.Needs{}
	for i, c := range classes {
		for _, id := range members[c] {
			if found[i] != nil {
				needs[id] = append(needs[id], found[i])
			}
		}
	}
	return needs, context.Cause(ctx)
}

// eachClass finds the actor of each class at its first member, several at a time. A member that cannot be read or is not there any more is passed over: who deletes it or waits for it
// is told. The error is the end of ctx.
func eachClass(ctx context.Context, client *cluster.Client, finder *actor.Finder, g *graph.Graph, classes []class, members map[class][]graph.ID,
	do func(ctx context.Context, i int, o *unstructured.Unstructured, a actor.Actor),
) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(client.Concurrency())
	for i, c := range classes {
		group.Go(func() error {
			id := members[c][0]
			t, _ := g.Type(id)
			ref := g.Ref(id)
			o, err := client.GetObject(ctx, t, ref.Namespace, ref.Name)
			if err != nil || string(o.GetUID()) != ref.UID {
				return context.Cause(ctx)
			}
			a, err := finder.Of(ctx, o, c.finalizer)
			if err == nil {
				do(ctx, i, o, a)
			}
			return err
		})
	}
	return group.Wait()
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
			if id, ok := g.plan.Graph.Find(part.Resource.Group, part.Resource.Resource, part.Namespace, part.Name); ok && g.is[id] && !g.orphans[id] {
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

// classesOf sorts the finalizers that a plan waits for. Those of actors without workloads, which are the control plane's, are left out.
func classesOf(known *finalizer.Registry, g *graph.Graph, blockers []plan.Blocker) ([]class, map[class][]graph.ID) {
	var classes []class
	members := map[class][]graph.ID{}
	for _, b := range blockers {
		ref := g.Ref(b.Object)
		for _, name := range b.Finalizers {
			c := class{ref.Group(), ref.Kind, ref.Namespace, name}
			if k, ok := known.Lookup(name, ref.Group(), ref.Kind); ok && !k.Fallback {
				if !hasWorkloads(k.Alive) && k.Alive.Follow == "" {
					continue
				}
				if !k.Alive.Instance.Namespace {
					c.namespace = ""
				}
			}
			if members[c] == nil {
				if len(classes) == mostClasses {
					continue
				}
				classes = append(classes, c)
			}
			members[c] = append(members[c], b.Object)
		}
	}
	return classes, members
}

func isOf(ref graph.Ref, types []schema.GroupResource) bool {
	return slices.Contains(types, schema.GroupResource{Group: ref.Group(), Resource: ref.Resource})
}
