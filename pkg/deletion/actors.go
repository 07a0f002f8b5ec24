package deletion

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

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

const (
	// mostWorkloads is of how many workloads that are deleted it is looked what they work on.
	mostWorkloads = 20
	// mostAbandoned is of how many types it is looked whose finalizers nobody else removes.
	mostAbandoned = 16
	// maxFirst is how many objects of each are named.
	maxFirst = 3
)

// workloadTypes are the types of workloads.
var workloadTypes = []schema.GroupResource{cluster.Deployments, cluster.StatefulSets, cluster.DaemonSets}

// findAbandoned finds out which objects that are not deleted keep finalizers that nobody removes
// any more, because the workload that does so is deleted: in all namespaces, of the custom
// resources that it works on. What cannot be read is not looked at. The error is the end of ctx.
func (pl *planner) findAbandoned(ctx context.Context, reader *cluster.Reader, known *finalizer.Registry,
	p *plan.Plan) ([]v1alpha1.Abandoned, error) {
	l := leaving{goingOf(p), pl, reader, actor.NewFinder(reader, known)}
	types := l.worksOn(ctx)
	found := make([][]v1alpha1.Abandoned, len(types))
	if err := cluster.EachUntil(ctx, pl.client, types, func(ctx context.Context, i int, t graph.Type) (err error) {
		found[i], err = l.abandoned(ctx, t)
		return err
	}); err != nil {
		return nil, err
	}
	return slices.Concat(found...), context.Cause(ctx)
}

// leaving is what a plan takes away of those who remove finalizers.
type leaving struct {
	going
	*planner
	reader *cluster.Reader
	finder *actor.Finder
}

// worksOn are the types of custom resources that the workloads work on that are deleted.
func (l leaving) worksOn(ctx context.Context) []graph.Type {
	var workloads []graph.Ref
	for _, id := range l.ids {
		if ref := l.going.plan.Graph.Ref(id); isOf(ref, workloadTypes) && !l.orphans[id] && len(workloads) < mostWorkloads {
			workloads = append(workloads, ref)
		}
	}
	written := make([][]cluster.Resource, len(workloads))
	cluster.Each(l.client, workloads, func(i int, ref graph.Ref) {
		w, err := l.reader.GetObject(ctx, schema.GroupResource{Group: ref.Group(), Resource: ref.Resource}, ref.Namespace,
			ref.Name)
		if err == nil && w != nil { // what cannot be read is not looked at
			written[i] = l.finder.WorksOn(ctx, w, l.catalog.Resources)
		}
	})
	var types []graph.Type
	for _, r := range slices.Concat(written...) {
		if !slices.Contains(types, r.Type) {
			types = append(types, r.Type)
		}
	}
	return types[:min(len(types), mostAbandoned)]
}

// abandoned are the finalizers of objects of a type that nobody removes any more. The error is the
// end of ctx.
func (l leaving) abandoned(ctx context.Context, t graph.Type) ([]v1alpha1.Abandoned, error) {
	var all []v1alpha1.Abandoned
	for _, a := range l.held(ctx, t) {
		o, err := l.client.GetObject(ctx, t, a.Objects[0].Namespace, a.Objects[0].Name)
		if err != nil || string(o.GetUID()) != a.Objects[0].UID {
			continue
		}
		who, err := l.finder.Of(ctx, o, a.Finalizer)
		if err != nil {
			return nil, err
		}
		if removers := l.removers(l.finder.Parts(ctx, o, who)); len(removers) > 0 {
			a.Actor = l.going.plan.Graph.Ref(removers[0][0])
			all = append(all, a)
		}
	}
	return all, nil
}

// held are the finalizers of others that objects of a type have, besides those that go.
func (l leaving) held(ctx context.Context, t graph.Type) []v1alpha1.Abandoned {
	var all []v1alpha1.Abandoned
	err := l.reader.ForEachMeta(ctx, t, func(o *graph.Object) {
		if id, ok := l.going.plan.Graph.Lookup(o.UID); ok && l.is[id] {
			return
		}
		for _, name := range plan.Foreign(o.Finalizers) {
			i := slices.IndexFunc(all, func(a v1alpha1.Abandoned) bool { return a.Finalizer == name })
			if i < 0 {
				i = len(all)
				all = append(all, v1alpha1.Abandoned{Finalizer: strings.Clone(name)})
			}
			a := &all[i]
			a.Count++
			if len(a.Objects) < maxFirst {
				a.Objects = append(a.Objects, graph.Ref{
					APIVersion: t.APIVersion(), Kind: t.Kind, Resource: t.Resource, Namespace: strings.Clone(o.Namespace),
					Name: strings.Clone(o.Name), UID: strings.Clone(o.UID),
				})
			}
		}
	})
	if err != nil {
		return nil
	}
	return all
}

// Unattended is a finalizer that a wait is about and that nobody removes as things are. Somebody
// may install who does so, or what they need, while it waits.
type Unattended struct {
	// Object is the first of those that have it, and More is how many others have.
	Object    graph.Ref
	More      int
	Finalizer string
	// Because says what was seen, as clauses.
	Because []string
}

// findUnattended finds out which finalizers of what is being deleted nobody removes: who does so
// does not run or was not found, or something that they need does not exist. It looks at one object
// for each finalizer and kind, and at no more than mostActors. Of what cannot be read nothing is
// said. The error is the end of ctx.
func findUnattended(ctx context.Context, reader *cluster.Reader, known *finalizer.Registry, p *plan.Plan) ([]Unattended,
	error) {
	if known == nil {
		return nil, nil
	}
	finder := actor.NewFinder(reader, known)
	classes, _ := finder.Classes(p.Graph, begun(p), mostActors, byWorkloads)
	all, _, err := actor.Survey(ctx, finder, p.Graph, classes, mostActors,
		func(ctx context.Context, c *actor.Class, o *unstructured.Unstructured, a actor.Actor) Unattended {
			return Unattended{Object: p.Graph.Ref(c.Objects[0]), More: len(c.Objects) - 1, Finalizer: c.Finalizer,
				Because: missingFor(ctx, reader, finder, o, a)}
		})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(u Unattended) bool { return len(u.Because) == 0 })
	return all, context.Cause(ctx)
}

// missingFor says what is missing for an actor to remove its finalizer from an object; nothing if
// nothing is known to be.
func missingFor(ctx context.Context, reader *cluster.Reader, finder *actor.Finder, o *unstructured.Unstructured,
	a actor.Actor) []string {
	var says []string
	if a.Life == actor.Dead && len(a.Workloads)+len(a.Scaled) > 0 || a.NotFound() {
		says = append(says, a.Says()...)
	}
	for _, n := range finder.Needed(ctx, o, a) {
		if n.Type.Namespaced && n.Namespace == "" {
			continue
		}
		if needed, err := reader.GetObject(ctx, schema.GroupResource{Group: n.Type.Group, Resource: n.Type.Resource},
			n.Namespace, n.Name); err == nil && needed == nil {
			ref := graph.Ref{APIVersion: n.Type.APIVersion(), Kind: n.Type.Kind, Resource: n.Type.Resource,
				Namespace: n.Namespace, Name: n.Name}
			says = append(says, fmt.Sprintf("%s needs %s, which does not exist", a.Who, ref.Located()))
		}
	}
	return says
}

// begun are those of what a plan deletes that are being deleted, with their finalizers of others.
func begun(p *plan.Plan) iter.Seq2[graph.ID, []string] {
	return func(yield func(graph.ID, []string) bool) {
		for _, id := range p.Deleted {
			if p.Graph.State(id) == graph.Deleting && !yield(id, plan.Foreign(p.Graph.Finalizers(id))) {
				return
			}
		}
	}
}

// mostActors is of how many finalizers it is looked whether those who remove them run: each costs
// some requests before a plan is shown, and few cascades have more than these. The plan says how many
// were left out.
const mostActors = 16

// findIdle finds out which finalizers that the deletion waits for nobody removes, because their
// actors are there and do not run: of each finalizer and kind at one object. Actors without
// workloads of their own, which are those of the control plane, are not looked for.
func findIdle(ctx context.Context, reader *cluster.Reader, known *finalizer.Registry, p *plan.Plan,
	f *plan.Details) error {
	finder := actor.NewFinder(reader, known)
	classes, more := finder.Classes(p.Graph, blockers(p), mostActors,
		func(_ string, k finalizer.Known, isKnown bool) bool { return isKnown && k.Alive.HasWorkloads() })
	idle, left, err := actor.Survey(ctx, finder, p.Graph, classes, mostActors,
		func(_ context.Context, c *actor.Class, _ *unstructured.Unstructured, a actor.Actor) *v1alpha1.IdleActor {
			if a.Life != actor.Dead || len(a.Workloads)+len(a.Scaled) == 0 {
				return nil
			}
			return &v1alpha1.IdleActor{Object: p.Graph.Ref(c.Objects[0]), Finalizer: c.Finalizer, Actor: a.Who,
				Evidence: a.Says()}
		})
	f.Unexamined = more + left
	for _, w := range idle {
		if w != nil {
			f.Idle = append(f.Idle, *w)
		}
	}
	return err
}
