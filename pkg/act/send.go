package act

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// maxReplans is how often roots that change all the time are planned again.
const maxReplans = 3

// send sends the deletes of a plan, those of one batch side by side. It returns those that have to be planned again: the roots that have
// been changed, and all of the batches after, since dependents come before their owners.
func (r *run) send(ctx context.Context, p *plan.Plan) []plan.Action {
	batches := p.Batches()
	for i, batch := range batches {
		errs := r.sendBatch(ctx, p.Graph, batch)
		var changed []plan.Action
		for j, a := range batch {
			if errors.Is(errs[j], ErrChanged) {
				changed = append(changed, a)
				continue
			}
			r.note(p.Graph, a, errs[j])
		}
		if len(changed) > 0 {
			return append(changed, slices.Concat(batches[i+1:]...)...)
		}
	}
	return nil
}

// sendBatch returns what came of each delete, in their order.
func (r *run) sendBatch(ctx context.Context, g *graph.Graph, batch []plan.Action) []error {
	errs := make([]error, len(batch))
	var group errgroup.Group
	group.SetLimit(r.client.Concurrency())
	for i, a := range batch {
		if ctx.Err() != nil {
			errs[i] = ErrNotSent
			continue
		}
		// Told here, so that the order is always the same, and before the request: the end may be seen before the answer.
		r.opts.Tell(Event{What: Deleting, Object: g.Ref(a.Object), Policy: string(a.Policy)})
		group.Go(func() error {
			errs[i] = r.delete(ctx, g, a)
			return nil
		})
	}
	_ = group.Wait() // each error is in its place
	return errs
}

// delete sends one delete. It carries the uid and the resourceVersion of the object in the plan. If that has changed, it is sent with the uid
// alone provided that what the plan rests on is as it was: an object whose status changes all the time could not be deleted otherwise.
func (r *run) delete(ctx context.Context, g *graph.Graph, a plan.Action) error {
	ref := g.Ref(a.Object)
	t, _ := g.Type(a.Object)
	was := r.planned(g, a.Object)
	options := cluster.DeleteOptions{
		Policy: string(a.Policy), GracePeriodSeconds: r.opts.GracePeriodSeconds, ResourceVersion: was.ResourceVersion,
	}
	_, err := r.client.Delete(ctx, t, ref.Namespace, ref.Name, ref.UID, options)
	if apierrors.IsConflict(err) {
		var now *graph.Object
		if now, err = r.client.Get(ctx, t, ref.Namespace, ref.Name); err == nil {
			switch {
			case now.UID != ref.UID:
				return errReplaced
			case !asPlanned(was, now):
				return ErrChanged
			}
			options.ResourceVersion = ""
			if r.opts.Meant != nil {
				meant, err := r.opts.Meant(ctx, t, ref)
				switch {
				case err != nil:
					return err
				case !meant:
					return errNotMeant
				}
				options.ResourceVersion = now.ResourceVersion // what was asked about, or something older
			}
			_, err = r.client.Delete(ctx, t, ref.Namespace, ref.Name, ref.UID, options)
		}
	}
	switch {
	case err == nil:
		return nil
	case apierrors.IsNotFound(err):
		return errGone
	case apierrors.IsConflict(err) && options.ResourceVersion != "":
		return ErrChanged
	case apierrors.IsConflict(err):
		return errReplaced
	case ctx.Err() != nil:
		return ErrInterrupted
	}
	return err // the server's own errors name the object
}

// note puts what came of a delete where it belongs.
func (r *run) note(g *graph.Graph, a plan.Action, err error) {
	switch {
	case err == nil:
		r.result.Done = append(r.result.Done, Done{a, g})
	case errors.Is(err, ErrNotSent), errors.Is(err, errNoBlock):
		r.result.Skipped = append(r.result.Skipped, Failure{a, g, err})
	case errors.Is(err, errGone), errors.Is(err, errReplaced), errors.Is(err, errNotMeant):
		r.result.Skipped = append(r.result.Skipped, Failure{a, g, err})
		r.opts.Tell(Event{What: Skipped, Object: g.Ref(a.Object), Err: err})
	default:
		r.fail(g, a, err)
	}
}

func (r *run) fail(g *graph.Graph, a plan.Action, err error) {
	r.result.Failed = append(r.result.Failed, Failure{a, g, err})
	r.opts.Tell(Event{What: Failed, Object: g.Ref(a.Object), Err: err})
}

// replan has the rest of a plan's deletes planned again. It is false if they are not to be sent.
func (r *run) replan(ctx context.Context, p *plan.Plan, rest []plan.Action, round int) (Replanned, bool) {
	refuse := func(err error) (Replanned, bool) {
		for _, a := range rest {
			ref := p.Graph.Ref(a.Object)
			r.fail(p.Graph, a, fmt.Errorf("%s %q was not deleted: %w", ref.Resource, ref.Name, err))
		}
		return Replanned{}, false
	}
	switch {
	case ctx.Err() != nil:
		for _, a := range rest {
			r.note(p.Graph, a, ErrNotSent)
		}
		return Replanned{}, false
	case r.opts.Replan == nil:
		return refuse(ErrChanged)
	case round == maxReplans:
		return refuse(fmt.Errorf("%w, and again each of the %d times that it was planned again", ErrChanged, maxReplans))
	}
	var roots []graph.Ref
	for _, a := range rest {
		roots = append(roots, p.Graph.Ref(a.Object))
	}
	next, err := r.opts.Replan(ctx, roots)
	if err != nil {
		r.result.Declined = err
		return refuse(ErrChanged)
	}
	again := map[string]bool{}
	for _, id := range next.Plan.Roots {
		again[next.Plan.Graph.Ref(id).UID] = true
	}
	for _, a := range rest {
		uid := p.Graph.Ref(a.Object).UID
		switch why, out := next.LeftOut[uid]; {
		case again[uid]:
		case out:
			r.note(p.Graph, a, leftOut{why})
		default:
			r.note(p.Graph, a, errGone)
		}
	}
	return next, true
}

// planned returns of a root what its plan rests on: as it was listed, or as it is since its references were made to block.
func (r *run) planned(g *graph.Graph, id graph.ID) *graph.Object {
	if o, ok := r.patched[g.Ref(id).UID]; ok {
		return o
	}
	return &graph.Object{ResourceVersion: g.ResourceVersion(id), Finalizers: g.Finalizers(id), Owners: references(g, id)}
}

func references(g *graph.Graph, id graph.ID) []graph.OwnerReference {
	var owners []graph.OwnerReference
	for e := range g.Owners(id) {
		owners = append(owners, graph.OwnerReference{
			APIVersion: e.APIVersion, Kind: e.Kind, Name: e.Name, UID: g.Ref(e.Owner).UID, Controller: e.Controller, Block: e.Block,
		})
	}
	return owners
}

// asPlanned says whether what the plan rests on is as it was: the owners, and the finalizers of others. The collector's own are replaced
// by the delete; and the deletionTimestamp may be the work of the delete that has just been refused, because the API server stores the
// finalizers of a delete first and then finds that the resourceVersion has changed.
func asPlanned(was, now *graph.Object) bool {
	return slices.Equal(was.Owners, now.Owners) && slices.Equal(ofOthers(was.Finalizers), ofOthers(now.Finalizers))
}

// ofOthers leaves the collector's finalizers out.
func ofOthers(finalizers []string) []string {
	var others []string
	for _, f := range finalizers {
		if f != plan.OrphanFinalizer && f != plan.ForegroundFinalizer {
			others = append(others, f)
		}
	}
	return others
}
