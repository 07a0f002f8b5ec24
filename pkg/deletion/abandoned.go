package deletion

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

const (
	// mostWorkloads is the most deleted workloads whose types are looked up.
	mostWorkloads = 20
	// mostAbandoned is the most types whose objects are read.
	mostAbandoned = 16
	// maxFirst is how many objects of each are named.
	maxFirst = 3
)

// findAbandoned finds out which objects that are not deleted keep finalizers that nobody removes
// any more, because the workload that does so is deleted: in all namespaces, of the custom
// resources that it works on. What cannot be read is not looked at. The error is the end of ctx.
func (pl *planner) findAbandoned(ctx context.Context, reader *cluster.Reader, known *finalizer.Registry,
	p *plan.Plan) ([]v1alpha1.Abandoned, error) {
	l := lostControllers{deletedOf(p), pl, reader, actor.NewFinder(reader, known)}
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

// lostControllers are the workloads that a plan deletes and that remove finalizers of what stays.
type lostControllers struct {
	deletedSet
	*planner
	reader *cluster.Reader
	finder *actor.Finder
}

// worksOn are the types of custom resources that the workloads work on that are deleted.
func (l lostControllers) worksOn(ctx context.Context) []graph.Type {
	var workloads []graph.Ref
	for _, id := range l.ids {
		ref := l.deletedSet.plan.Graph.Ref(id)
		if isOf(ref, workloadTypes) && !l.orphans[id] && len(workloads) < mostWorkloads {
			workloads = append(workloads, ref)
		}
	}
	written := make([][]cluster.Resource, len(workloads))
	cluster.Each(l.client, workloads, func(i int, ref graph.Ref) {
		w, err := l.reader.GetObject(ctx, ref.GroupResource(), ref.Namespace, ref.Name)
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
func (l lostControllers) abandoned(ctx context.Context, t graph.Type) ([]v1alpha1.Abandoned, error) {
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
			a.Actor = l.deletedSet.plan.Graph.Ref(removers[0][0])
			all = append(all, a)
		}
	}
	return all, nil
}

// held are the finalizers of others that objects of a type have, besides those that go.
func (l lostControllers) held(ctx context.Context, t graph.Type) []v1alpha1.Abandoned {
	var all []v1alpha1.Abandoned
	err := l.reader.ForEachMeta(ctx, t, func(o *graph.Object) {
		if id, ok := l.deletedSet.plan.Graph.Lookup(o.UID); ok && l.is[id] {
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
				a.Objects = append(a.Objects,
					t.Ref(strings.Clone(o.Namespace), strings.Clone(o.Name), strings.Clone(o.UID)))
			}
		}
	})
	if err != nil {
		return nil
	}
	return all
}
