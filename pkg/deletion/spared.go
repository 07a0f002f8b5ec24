package deletion

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// sparing is a finalizer of an object whose actor may leave what it manages outside the cluster, as
// the object says.
type sparing struct {
	id        graph.ID
	finalizer string
	known     finalizer.Known
}

// readSpared finds out what stays outside the cluster although the object that stands for it is
// deleted, and what decides about that. Only objects with finalizers of which that can be are read.
func readSpared(ctx context.Context, client *cluster.Client, reader *cluster.Reader, known *finalizer.Registry,
	p *plan.Plan, f *plan.Details) error {
	by := sparings(known, p)
	ids := make([]graph.ID, 0, len(by))
	for uid := range by {
		id, _ := p.Graph.Lookup(uid)
		ids = append(ids, id)
	}
	slices.Sort(ids)
	ids, f.UnreadSpared = upTo(mostRead, ids)
	finder := actor.NewFinder(reader, known)
	read, unread := map[graph.ID]bool{}, map[graph.ID]bool{}
	var mu sync.Mutex
	err := client.ForEachObject(ctx, cluster.RequestObjects(p.Graph, ids), func(o *unstructured.Unstructured) error {
		var of plan.Details
		complete := true
		for _, s := range by[string(o.GetUID())] {
			decided, err := s.decided(ctx, finder, o)
			of.Decided = append(of.Decided, decided...)
			complete = complete && err == nil
			if because, met := s.known.Leaves(o.Object); met && len(of.Spared) == 0 {
				of.Spared = append(of.Spared, plan.Spared{Object: s.id, Finalizer: s.finalizer, Because: because})
			}
		}
		mu.Lock()
		defer mu.Unlock()
		id, there := p.Graph.Lookup(string(o.GetUID()))
		if !there || read[id] {
			return nil // it comes twice, or another has its name
		}
		read[id], unread[id] = true, !complete
		f.Spared, f.Decided = append(f.Spared, of.Spared...), append(f.Decided, of.Decided...)
		return nil
	})
	slices.SortFunc(f.Spared, func(a, b plan.Spared) int { return cmp.Compare(a.Object, b.Object) })
	slices.SortStableFunc(f.Decided, func(a, b plan.Decided) int { return cmp.Compare(a.Object, b.Object) })
	for _, id := range ids {
		if unread[id] || err != nil && !read[id] { // the wait for them will tell why
			f.UnreadSpared = append(f.UnreadSpared, id)
		}
	}
	return context.Cause(ctx)
}

// longestValue is how many bytes of a value a plan shows. Of a longer one it has the checksum.
const longestValue = 1024

// decided is what the actor of the finalizer decides by. The error is of an object that has a part
// of it and cannot be read.
func (s sparing) decided(ctx context.Context, finder *actor.Finder, o *unstructured.Unstructured) ([]plan.Decided,
	error) {
	var all []plan.Decided
	for _, d := range s.known.Decides {
		has := o
		if d.Of != nil {
			var err error
			if has, err = finder.Deciding(ctx, o, s.known, s.finalizer, *d.Of); err != nil {
				return nil, err
			}
		}
		value := ""
		if has != nil {
			value = d.Value(has.Object)
		}
		if len(value) > longestValue {
			value = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(value)))
		}
		all = append(all, plan.Decided{Object: s.id, Finalizer: s.finalizer, Field: d.String(), Value: value})
	}
	return all, nil
}

// sparings are the finalizers that the deletion waits for and of which a field decides about what
// is outside, by the uids of the objects.
func sparings(known *finalizer.Registry, p *plan.Plan) map[string][]sparing {
	by := map[string][]sparing{}
	for _, b := range p.Blockers {
		ref := p.Graph.Ref(b.Object)
		for _, name := range b.Finalizers {
			if k, ok := known.Lookup(name, ref.Group(), ref.Kind); ok && len(k.Spares)+len(k.Decides) > 0 {
				by[ref.UID] = append(by[ref.UID], sparing{b.Object, name, k})
			}
		}
	}
	return by
}
