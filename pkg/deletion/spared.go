package deletion

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// sparing is a finalizer of an object that may say that its actor leaves what it manages outside the
// cluster, or that it is ignored for now.
type sparing struct {
	object    graph.Ref
	finalizer string
	known     finalizer.Known
}

// readSpared finds out what stays outside the cluster although the object that stands for it is
// deleted, and what decides about that; and which objects say that their actors ignore them. Only
// objects with finalizers of which that can be are read.
func readSpared(ctx context.Context, client *cluster.Client, reader *cluster.Reader, known *finalizer.Registry,
	p *plan.Plan, f *plan.Details) error {
	by := sparings(known, p)
	var ids, others []graph.ID // others can only be paused, or name what they stand for
	for id, of := range by {
		if slices.ContainsFunc(of, sparing.decides) {
			ids = append(ids, id)
		} else {
			others = append(others, id)
		}
	}
	slices.Sort(ids)
	ids, f.UnreadSpared = upTo(mostRead, ids)
	f.TooMany = append(f.TooMany, f.UnreadSpared...)
	decided := len(ids)
	if decided+len(others) <= mostRead {
		ids = append(ids, others...)
	}
	asked := graph.SetOf(ids)
	finder := actor.NewFinder(reader, known)
	read, unread := map[graph.ID]plan.Facts{}, map[graph.ID]bool{}
	var mu sync.Mutex
	err := client.ForEachObject(ctx, cluster.RequestObjects(p.Graph, ids), func(o *unstructured.Unstructured) error {
		id, there := p.Graph.Lookup(string(o.GetUID()))
		if !there { // another can have its name
			return nil
		}
		var of plan.Facts
		complete := true
		for _, s := range by[id] {
			decided, err := s.decided(ctx, finder, o)
			of.Decided = append(of.Decided, decided...)
			complete = complete && err == nil
			of.Outside = append(of.Outside, s.outside(o)...)
			if because, met := s.known.Leaves(o.Object); met && len(of.Spared) == 0 {
				of.Spared = append(of.Spared, v1alpha1.Spared{Object: s.object, Finalizer: s.finalizer, Because: because})
			}
			of.Idle = append(of.Idle, s.paused(ctx, finder, o)...)
		}
		mu.Lock()
		defer mu.Unlock()
		if _, twice := read[id]; !twice {
			read[id], unread[id] = of, !complete
		}
		return nil
	})
	told := map[[2]string]bool{}
	for _, id := range slices.Sorted(maps.Keys(read)) {
		of := read[id]
		f.Spared, f.Decided = append(f.Spared, of.Spared...), append(f.Decided, of.Decided...)
		f.Idle = append(f.Idle, of.Idle...)
		for _, o := range of.Outside {
			if key := [2]string{o.Is, o.Name}; !told[key] { // a machine can have a Node, a NodeClaim and two finalizers
				told[key] = true
				f.Outside = append(f.Outside, o)
			}
		}
	}
	for _, id := range ids[:decided] {
		if _, is := read[id]; unread[id] || err != nil && !is { // the wait for them will tell why
			f.UnreadSpared = append(f.UnreadSpared, id)
		}
	}
	for id, of := range by {
		if _, is := read[id]; !is && (err != nil || !asked[id]) && slices.ContainsFunc(of, sparing.names) {
			f.UnreadOutside = append(f.UnreadOutside, id)
		}
	}
	return context.Cause(ctx)
}

// longestValue is how many bytes of a value a plan shows. Of a longer one it has the checksum.
const longestValue = 1024

// decided is what the actor of the finalizer decides by. The error is of an object that has a part
// of it and cannot be read.
func (s sparing) decided(ctx context.Context, finder *actor.Finder, o *unstructured.Unstructured) ([]v1alpha1.Decided,
	error) {
	var all []v1alpha1.Decided
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
		all = append(all, v1alpha1.Decided{Object: s.object, Finalizer: s.finalizer, Field: d.String(), Value: value})
	}
	return all, nil
}

// names reports whether a field of the object names what it stands for outside the cluster.
func (s sparing) names() bool { return len(s.known.External) > 0 }

// outside is what the object stands for outside the cluster, as far as it names that.
func (s sparing) outside(o *unstructured.Unstructured) []v1alpha1.Outside {
	_, stays := s.known.Leaves(o.Object)
	var all []v1alpha1.Outside
	for _, e := range s.known.External {
		for _, name := range e.Names(o.Object) {
			all = append(all, v1alpha1.Outside{Object: s.object, Is: e.Is, Name: name, Field: e.String(), Stays: stays})
		}
	}
	return all
}

// decides reports whether a field of the object decides about what is outside.
func (s sparing) decides() bool { return len(s.known.Spares)+len(s.known.Decides) > 0 }

// paused says whether the object says that the actor ignores it.
func (s sparing) paused(ctx context.Context, finder *actor.Finder, o *unstructured.Unstructured) []v1alpha1.IdleActor {
	if len(s.known.PausedBy) == 0 {
		return nil
	}
	idle := v1alpha1.IdleActor{Object: s.object, Finalizer: s.finalizer, Actor: s.known.Who(), Paused: true,
		Obstacle: v1alpha1.Paused}
	for _, p := range finder.Paused(ctx, o, actor.Actor{Finalizer: s.finalizer, Known: s.known, IsKnown: true}) {
		idle.Evidence = append(idle.Evidence, p.Says(o))
	}
	if len(idle.Evidence) == 0 {
		return nil
	}
	return []v1alpha1.IdleActor{idle}
}

// sparings are the finalizers that the deletion waits for and of which the object may say what their
// actors do, by object.
func sparings(known *finalizer.Registry, p *plan.Plan) map[graph.ID][]sparing {
	by := map[graph.ID][]sparing{}
	for _, b := range p.Blockers {
		ref := p.Graph.Ref(b.Object)
		for _, name := range b.Finalizers {
			if k, ok := known.Lookup(name, ref.Group(), ref.Kind); ok &&
				len(k.Spares)+len(k.Decides)+len(k.PausedBy)+len(k.External) > 0 {
				by[b.Object] = append(by[b.Object], sparing{ref, name, k})
			}
		}
	}
	return by
}
