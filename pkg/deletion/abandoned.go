package deletion

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

const (
	// mostWorkloads is of how many workloads that are deleted it is looked what they work on.
	mostWorkloads = 20
	// mostAbandoned is of how many finalizers and kinds it is looked who else removes them.
	mostAbandoned = 16
	// maxFirst is how many objects of each are named.
	maxFirst = 3
)

// workloadTypes are the types of workloads.
var workloadTypes = []schema.GroupResource{cluster.Deployments, cluster.StatefulSets, cluster.DaemonSets}

// findAbandoned finds out which objects that are not deleted keep finalizers that nobody removes any more, because the workload that does so is deleted: in all namespaces, of
// the custom resources that RBAC lets it write. What cannot be read is not looked at. The error is the end of ctx.
func (pl *planner) findAbandoned(ctx context.Context, reader *cluster.Reader, known *finalizer.Registry, p *plan.Plan) ([]plan.Abandoned, error) {
	going := goingOf(p)
	finder := actor.NewFinder(reader, known)
	var types []cluster.Resource
	workloads := 0
	for _, id := range going.ids {
		ref := p.Graph.Ref(id)
		if !isOf(ref, workloadTypes) || workloads == mostWorkloads {
			continue
		}
		workloads++
		w, err := reader.GetObject(ctx, schema.GroupResource{Group: ref.Group(), Resource: ref.Resource}, ref.Namespace, ref.Name)
		if err != nil || w == nil {
			continue
		}
		for _, t := range finder.Writes(ctx, w, pl.catalog.Resources) {
			if !slices.ContainsFunc(types, func(other cluster.Resource) bool { return other.Type == t.Type }) {
				types = append(types, t)
			}
		}
	}
	var all []plan.Abandoned
	for _, t := range types {
		for _, a := range held(ctx, reader, t.Type, going) {
			if len(all) == mostAbandoned {
				break
			}
			o, err := pl.client.GetObject(ctx, t.Type, a.First[0].Namespace, a.First[0].Name)
			if err != nil || string(o.GetUID()) != a.First[0].UID {
				continue
			}
			who, err := finder.Of(ctx, o, a.Finalizer)
			if err != nil {
				return nil, err
			}
			if actors := going.actors(finder.Parts(ctx, o, who)); len(actors) > 0 {
				a.Actor = actors[0][0]
				all = append(all, a)
			}
		}
	}
	return all, context.Cause(ctx)
}

// held are the finalizers of others that objects of a type have, besides those that go.
func held(ctx context.Context, reader *cluster.Reader, t graph.Type, going going) []plan.Abandoned {
	var all []plan.Abandoned
	err := reader.ForEachMeta(ctx, t, func(o *graph.Object) {
		if id, ok := going.plan.Graph.Lookup(o.UID); ok && going.is[id] {
			return
		}
		for _, name := range o.Finalizers {
			if name == plan.OrphanFinalizer || name == plan.ForegroundFinalizer {
				continue
			}
			i := slices.IndexFunc(all, func(a plan.Abandoned) bool { return a.Finalizer == name })
			if i < 0 {
				i = len(all)
				all = append(all, plan.Abandoned{Type: t, Finalizer: strings.Clone(name)})
			}
			a := &all[i]
			a.Count++
			if len(a.First) < maxFirst {
				a.First = append(a.First, graph.Ref{
					APIVersion: t.APIVersion(), Kind: t.Kind, Resource: t.Resource, Namespace: strings.Clone(o.Namespace), Name: strings.Clone(o.Name), UID: strings.Clone(o.UID),
				})
			}
		}
	})
	if err != nil {
		return nil
	}
	return all
}
