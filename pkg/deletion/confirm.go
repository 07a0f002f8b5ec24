package deletion

import (
	"context"
	"iter"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// findConfirmations finds out which objects of a plan are not gone until somebody confirms their
// deletion, of those with finalizers that it waits for. Only objects with a finalizer whose actor asks
// for that are read. The error is the end of ctx.
func findConfirmations(ctx context.Context, client *cluster.Client, known *finalizer.Registry, p *plan.Plan,
	carriers iter.Seq2[graph.ID, []string], f *plan.Facts) error {
	by := map[graph.ID][]confirmable{}
	for id, names := range carriers {
		ref := p.Graph.Ref(id)
		for _, name := range names {
			k, _ := known.Lookup(name, ref.Group(), ref.Kind)
			for _, h := range k.HeldBy {
				if h.Approval != "" {
					by[id] = append(by[id], confirmable{ref, name, k.Who(), h})
				}
			}
		}
	}
	ids := make([]graph.ID, 0, len(by))
	for id := range by {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	ids, f.UnreadConfirmations = upTo(mostRead, ids)
	f.TooMany = append(f.TooMany, f.UnreadConfirmations...)
	read := map[graph.ID][]plan.Confirmation{}
	var mu sync.Mutex
	err := client.ForEachObject(ctx, cluster.RequestObjects(p.Graph, ids), func(o *unstructured.Unstructured) error {
		id, there := p.Graph.Lookup(string(o.GetUID()))
		if !there { // another can have its name
			return nil
		}
		var all []plan.Confirmation
		for _, c := range by[id] {
			all = append(all, c.awaited(o)...)
		}
		mu.Lock()
		defer mu.Unlock()
		read[id] = all
		return nil
	})
	for _, id := range ids {
		all, is := read[id]
		f.Confirmations = append(f.Confirmations, all...)
		if err != nil && !is {
			f.UnreadConfirmations = append(f.UnreadConfirmations, id)
		}
	}
	return context.Cause(ctx)
}

// confirmable is a finalizer of an object whose actor may wait until somebody confirms the deletion.
type confirmable struct {
	object         graph.Ref
	finalizer, who string
	hold           finalizer.Hold
}

// awaited are the confirmations that the object needs: none if it says that it needs none, or if it
// was given.
func (c confirmable) awaited(o *unstructured.Unstructured) []plan.Confirmation {
	held := c.hold.HoldingNames(o.Object)
	if len(held) == 0 || !c.hold.Applies(o.Object) || status.Approved(o, c.hold.Approval) {
		return nil
	}
	return []plan.Confirmation{{Object: c.object, Finalizer: c.finalizer,
		Waits: c.who + " " + c.hold.Filled(c.hold.Waits, c.who, held), Annotation: c.hold.Approval}}
}
