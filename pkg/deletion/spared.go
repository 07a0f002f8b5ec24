package deletion

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// sparing is what an object says of what is outside the cluster, and of its actors.
type sparing struct {
	facts      plan.Facts // Spared, Decided, Outside and Idle
	incomplete bool       // what decides could not be read
}

// spared ask the objects that a plan waits for what stays outside the cluster although they are
// deleted, and what decides about that; and which say that their actors ignore them. Only objects
// with finalizers of which that can be are read.
func spared(reader *cluster.Reader, known *finalizer.Registry, p *plan.Plan, f *plan.Details) (q *answers[sparing],
	tell func()) {
	by := carriers(p.Graph, known, blockers(p), func(c carrier) bool {
		return c.decides() || c.names() || len(c.known.PausedBy) > 0
	})
	var ids, others []graph.ID // others can only be paused, or name what they stand for
	for id, of := range by {
		if slices.ContainsFunc(of, carrier.decides) {
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
	finder := actor.NewFinder(reader, known)
	q = newAnswers(ids, func(ctx context.Context, id graph.ID, o *unstructured.Unstructured) (said sparing) {
		of := &said.facts
		for _, c := range by[id] {
			decided, err := c.decided(ctx, finder, o)
			of.Decided = append(of.Decided, decided...)
			said.incomplete = said.incomplete || err != nil
			of.Outside = append(of.Outside, c.outside(o)...)
			if because, met := c.known.Leaves(o.Object); met && len(of.Spared) == 0 {
				of.Spared = append(of.Spared, v1alpha1.Spared{Object: c.object, Finalizer: c.finalizer, Because: because})
			}
			of.Idle = append(of.Idle, c.paused(ctx, finder, o)...)
		}
		return said
	})
	return q, func() {
		told := map[[2]string]bool{}
		for _, id := range slices.Sorted(maps.Keys(q.by)) {
			of := q.by[id].facts
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
			if q.by[id].incomplete || q.unread[id] { // the wait for them will tell why
				f.UnreadSpared = append(f.UnreadSpared, id)
			}
		}
		asked := graph.SetOf(ids)
		for id, of := range by {
			if (q.unread[id] || !asked[id]) && slices.ContainsFunc(of, carrier.names) {
				f.UnreadOutside = append(f.UnreadOutside, id)
			}
		}
	}
}

// longestValue is how many bytes of a value a plan shows. Of a longer one it has the checksum.
const longestValue = 1024

// decided is what the actor of the finalizer decides by. The error is of an object that has a part
// of it and cannot be read.
func (c carrier) decided(ctx context.Context, finder *actor.Finder, o *unstructured.Unstructured) ([]v1alpha1.Decided,
	error) {
	var all []v1alpha1.Decided
	for _, d := range c.known.Decides {
		has := o
		if d.Of != nil {
			var err error
			if has, err = finder.Deciding(ctx, o, *c.known, c.finalizer, *d.Of); err != nil {
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
		all = append(all, v1alpha1.Decided{Object: c.object, Finalizer: c.finalizer, Field: d.String(), Value: value})
	}
	return all, nil
}

// names reports whether a field of the object names what it stands for outside the cluster.
func (c carrier) names() bool { return len(c.known.External) > 0 }

// outside is what the object stands for outside the cluster, as far as it names that.
func (c carrier) outside(o *unstructured.Unstructured) []v1alpha1.Outside {
	_, stays := c.known.Leaves(o.Object)
	var all []v1alpha1.Outside
	for _, e := range c.known.External {
		for _, name := range e.Names(o.Object) {
			all = append(all, v1alpha1.Outside{Object: c.object, Is: e.Is, Name: name, Field: e.String(), Stays: stays})
		}
	}
	return all
}

// decides reports whether a field of the object decides about what is outside.
func (c carrier) decides() bool { return len(c.known.Spares)+len(c.known.Decides) > 0 }

// paused says whether the object says that the actor ignores it.
func (c carrier) paused(ctx context.Context, finder *actor.Finder, o *unstructured.Unstructured) []v1alpha1.IdleActor {
	if len(c.known.PausedBy) == 0 {
		return nil
	}
	idle := v1alpha1.IdleActor{Object: c.object, Finalizer: c.finalizer, Actor: c.known.Who(), Paused: true,
		Obstacle: v1alpha1.Paused}
	for _, p := range finder.Paused(ctx, o, c.actor()) {
		if !p.Custom { // of a guess a plan says nothing
			idle.Evidence = append(idle.Evidence, p.Says(o))
		}
	}
	if len(idle.Evidence) == 0 {
		return nil
	}
	return []v1alpha1.IdleActor{idle}
}
