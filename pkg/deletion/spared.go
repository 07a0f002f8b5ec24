package deletion

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// sparing is a finalizer of an object whose actor may leave what it manages outside the cluster, as the object says.
type sparing struct {
	id        graph.ID
	finalizer string
	known     finalizer.Known
}

// readSpared finds out what stays outside the cluster although the object that stands for it is deleted. Only objects with finalizers of which that can be are read.
func readSpared(ctx context.Context, client *cluster.Client, known *finalizer.Registry, p *plan.Plan, f *plan.Details) error {
	by := sparings(known, p)
	ids := make([]graph.ID, 0, len(by))
	for uid := range by {
		id, _ := p.Graph.Lookup(uid)
		ids = append(ids, id)
	}
	slices.Sort(ids)
	ids, f.UnreadSpared = upTo(mostRead, ids)
	read := map[graph.ID]bool{}
	var mu sync.Mutex
	err := client.ForEachObject(ctx, cluster.RequestObjects(p.Graph, ids), func(o *unstructured.Unstructured) error {
		mu.Lock()
		defer mu.Unlock()
		for _, s := range by[string(o.GetUID())] {
			if because, met := s.known.Leaves(o.Object); met && !read[s.id] {
				f.Spared = append(f.Spared, plan.Spared{Object: s.id, Finalizer: s.finalizer, Because: because})
			}
			read[s.id] = true
		}
		return nil
	})
	slices.SortFunc(f.Spared, func(a, b plan.Spared) int { return cmp.Compare(a.Object, b.Object) })
	if err != nil { // of which the wait for them will tell
		f.UnreadSpared = append(f.UnreadSpared, slices.DeleteFunc(ids, func(id graph.ID) bool { return read[id] })...)
	}
	return context.Cause(ctx)
}

// sparings are the finalizers that the deletion waits for and whose actors may spare something, by the uids of the objects.
func sparings(known *finalizer.Registry, p *plan.Plan) map[string][]sparing {
	by := map[string][]sparing{}
	for _, b := range p.Blockers {
		ref := p.Graph.Ref(b.Object)
		for _, name := range b.Finalizers {
			if k, ok := known.Lookup(name, ref.Group(), ref.Kind); ok && len(k.Spares) > 0 {
				by[ref.UID] = append(by[ref.UID], sparing{b.Object, name, k})
			}
		}
	}
	return by
}
