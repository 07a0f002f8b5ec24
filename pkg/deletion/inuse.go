package deletion

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// mostInUse is of how many objects it is looked what uses them. Of the others
// nothing is said.
const mostInUse = 64

// findInUse finds out which finalizers that the deletion waits for keep objects that others use which
// are not deleted. The error is the end of ctx.
func findInUse(ctx context.Context, client *cluster.Client, reader *cluster.Reader, known *finalizer.Registry,
	p *plan.Plan, f *plan.Details) error {
	finder := actor.NewFinder(reader, known)
	going := goingOf(p)
	by := going.usable(known)
	ids := slices.Sorted(maps.Keys(by))
	var mu sync.Mutex
	unread := map[graph.ID]bool{} // of what was looked at
	err := client.ForEachObject(ctx, cluster.RequestObjects(p.Graph, ids[:min(len(ids), mostInUse)]),
		func(o *unstructured.Unstructured) error {
			id, ok := p.Graph.Lookup(string(o.GetUID()))
			if !ok {
				return nil
			}
			for _, of := range by[id] {
				a, err := finder.State(ctx, o, of)
				if err != nil {
					return err
				}
				k := plan.InUse{Object: id, Finalizer: a.Finalizer, Users: going.staying(a.Users)}
				mu.Lock()
				if len(k.Users) > 0 {
					f.InUse = append(f.InUse, k)
				}
				unread[id] = a.UsersUnread != nil || unread[id]
				mu.Unlock()
			}
			return nil
		})
	_ = err // of what cannot be read nothing is said
	slices.SortFunc(f.InUse, func(a, b plan.InUse) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), strings.Compare(a.Finalizer, b.Finalizer))
	})
	f.InUse = slices.CompactFunc(f.InUse, func(a, b plan.InUse) bool { // a list that began again
		return a.Object == b.Object && a.Finalizer == b.Finalizer
	})
	for id, is := range unread {
		if !is && !slices.ContainsFunc(f.InUse, func(k plan.InUse) bool { return k.Object == id }) {
			f.Unused = append(f.Unused, id)
		}
	}
	slices.Sort(f.Unused)
	return context.Cause(ctx)
}

// usable are the actors of finalizers that keep an object while others use it.
func (g going) usable(known *finalizer.Registry) map[graph.ID][]actor.Actor {
	by := map[graph.ID][]actor.Actor{}
	for _, b := range g.plan.Blockers {
		ref := g.plan.Graph.Ref(b.Object)
		for _, name := range b.Finalizers {
			k, ok := known.Lookup(name, ref.Group(), ref.Kind)
			if !ok || k.Fallback {
				continue
			}
			if a := (actor.Actor{Finalizer: name, Known: k, IsKnown: true}); a.CanBeInUse() {
				by[b.Object] = append(by[b.Object], a)
			}
		}
	}
	return by
}

// staying are those of some users that are not deleted with the plan, or with their namespace. One
// that is being deleted already uses the object until it is gone, and may be stuck.
func (g going) staying(users []actor.User) []graph.Ref {
	var all []graph.Ref
	for _, u := range users {
		id, listed := g.plan.Graph.Lookup(string(u.Object.GetUID()))
		namespace, in := g.plan.Graph.Find("", cluster.Namespaces.Resource, "", u.Object.GetNamespace())
		goes := listed && g.is[id] || in && g.is[namespace]
		if !goes {
			all = append(all, graph.Ref{APIVersion: u.Object.GetAPIVersion(), Kind: u.Object.GetKind(),
				Namespace: u.Object.GetNamespace(), Name: u.Object.GetName(), UID: string(u.Object.GetUID())})
		}
	}
	return all
}
