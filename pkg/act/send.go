package act

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// maxReplans is how often roots that change all the time are planned again.
const maxReplans = 3

// send sends the deletes of a plan, those of one batch side by side. It returns those that have to
// be planned again: the roots that have been changed, and all of the batches after, since
// dependents come before their owners.
func (r *run) send(ctx context.Context, p *plan.Plan) []plan.Action {
	batches := p.Batches()
	if next, ok := r.sendFirst(ctx, p); !ok {
		return next
	}
	for i, batch := range batches {
		errs := r.sendBatch(ctx, p.Graph, batch)
		var changed []plan.Action
		ignored := false
		for j, a := range batch {
			ignored = ignored || errors.Is(errs[j], ErrPolicyIgnored)
			if errors.Is(errs[j], ErrChanged) {
				changed = append(changed, a)
				continue
			}
			r.note(p.Graph, a, errs[j])
		}
		rest := slices.Concat(changed, slices.Concat(batches[i+1:]...))
		if ignored { // nor would it follow that of the others
			for _, a := range rest {
				r.note(p.Graph, a, errNoPolicy)
			}
			return nil
		}
		if len(changed) > 0 {
			return rest
		}
	}
	return nil
}

// sendFirst sends the deletes that come before those of the roots. It is false if the roots are not
// to be deleted as planned, and returns those that have to be planned again because what is to be
// deleted before them has changed.
func (r *run) sendFirst(ctx context.Context, p *plan.Plan) ([]plan.Action, bool) {
	first := p.First()
	changed, failed := false, false
	for i, err := range r.sendBatch(ctx, p.Graph, first) {
		switch {
		case errors.Is(err, ErrChanged):
			changed = true
			continue
		case err != nil && !change.IsOver(err):
			failed = true
		}
		r.note(p.Graph, first[i], err)
	}
	roots, why := slices.Concat(p.Batches()...), errUnprepared
	switch {
	case failed:
		if ctx.Err() != nil {
			why = ErrNotSent
		}
		for _, a := range roots {
			r.note(p.Graph, a, why)
		}
		return nil, false
	case changed:
		return roots, false
	}
	return nil, true
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
		// Told here, so that the order is always the same, and before the request: the end may be
		// seen before the answer.
		r.opts.OnEvent(ofAction(Deleting, g, a, nil))
		group.Go(func() error {
			errs[i] = r.delete(ctx, g, a)
			r.wrote(g, a, errs[i])
			return nil
		})
	}
	_ = group.Wait() // each error is in its place
	return errs
}

// wrote tells what came of a write, unless it was not sent at all.
func (r *run) wrote(g *graph.Graph, a plan.Action, err error) {
	if r.opts.OnWrite != nil && !errors.Is(err, ErrNotSent) {
		r.opts.OnWrite(g, a, err)
	}
}

// delete sends one delete. It carries the uid and the resourceVersion of the object in the plan. If
// the object has changed since, the delete is sent with the resourceVersion that it has now,
// provided that what the plan rests on is as it was: an object whose status changes all the time
// could not be deleted otherwise.
func (r *run) delete(ctx context.Context, g *graph.Graph, a plan.Action) error {
	o, was := objectOf(r.client, g, a.Object), r.planned(g, a.Object)
	now := was
	var answer cluster.Deleted
	var unclear error
	send := func(ctx context.Context, version string) (err error) {
		answer, err = o.Delete(ctx, cluster.DeleteOptions{
			Policy: string(a.Policy), GracePeriodSeconds: r.opts.GracePeriodSeconds, ResourceVersion: version,
		})
		return err
	}
	err := change.Write{
		Seen: was.ResourceVersion,
		Read: func(ctx context.Context) (string, error) {
			read, err := o.Read(ctx)
			switch {
			case err != nil && ctx.Err() != nil:
				return "", ErrInterrupted
			case err != nil:
				return "", err
			}
			now = read
			return now.ResourceVersion, nil
		},
		Decide: func(ctx context.Context) (func(context.Context) error, error) {
			if !asPlanned(was, now) {
				return nil, ErrChanged
			}
			if now != was {
				if err := r.meant(ctx, o.Type, o.Ref); err != nil {
					return nil, err
				}
			}
			return func(ctx context.Context) error {
				err := send(ctx, now.ResourceVersion)
				if apierrors.IsConflict(err) && refusesEachVersion(now, a.Policy) {
					if same, unread := o.Read(ctx); unread == nil && same.ResourceVersion == now.ResourceVersion {
						err = send(ctx, "")
					}
				}
				switch {
				case err == nil && !answer.Object && !answer.Gone:
					unclear = cluster.ErrUnclear
				case err == nil:
				case ctx.Err() != nil:
					return ErrInterrupted
				case errors.Is(err, cluster.ErrUnclear):
					unclear = err
				default:
					return naming(o.Ref, err)
				}
				return nil
			}, r.archived(ctx, o.Type, o.Ref, now.ResourceVersion)
		},
	}.Do(ctx)
	switch {
	case unclear != nil:
		return r.unclear(ctx, o, a.Policy, unclear)
	case errors.Is(err, change.ErrMoved):
		return fmt.Errorf("%s %q was not deleted: %w", o.Ref.Resource, o.Ref.Name, err)
	case err != nil:
		return err
	}
	return followed(o.Ref, a.Policy, answer)
}

// meant says whether an object that has changed is still meant by what resolved it.
func (r *run) meant(ctx context.Context, t graph.Type, ref graph.Ref) error {
	if r.opts.Meant == nil {
		return nil
	}
	meant, err := r.opts.Meant(ctx, t, ref)
	switch {
	case err != nil && ctx.Err() != nil:
		return ErrInterrupted
	case err != nil:
		return err
	case !meant:
		return errNotMeant
	}
	return nil
}

// archived says whether nothing is lost with a version of an object.
func (r *run) archived(ctx context.Context, t graph.Type, ref graph.Ref, version string) error {
	if r.opts.Archived == nil {
		return nil
	}
	err := r.opts.Archived(ctx, t, ref, version)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ErrNotSent
	}
	return fmt.Errorf("%s %q was not deleted: %w", ref.Resource, ref.Name, err)
}

// refusesEachVersion reports whether the API server answers a delete with a conflict whichever
// resourceVersion it carries. It does if the policy removes the only finalizers of the object: it
// compares the resourceVersion with that of an update that it has left out (Store.Delete in the
// generic registry of k8s.io/apiserver, after errDeleteNow). Only such a delete is sent with the
// uid alone.
func refusesEachVersion(now *graph.Object, policy plan.Policy) bool {
	return policy == plan.Background && len(now.Finalizers) > 0 && len(plan.Foreign(now.Finalizers)) == 0
}

// unclear finds out what came of a delete whose answer does not say it: one of something that is no
// API server, or a Status without a uid, with which some servers answer.
func (r *run) unclear(ctx context.Context, o change.Object, policy plan.Policy, answer error) error {
	answer = naming(o.Ref, answer)
	now, err := o.Reread(ctx, answer)
	switch {
	case change.IsOver(err):
		return nil // the collector may have been as fast as that, whatever the policy
	case err != nil && ctx.Err() != nil:
		return ErrInterrupted
	case err != nil:
		return err
	case now.DeletionTimestamp == 0:
		return answer
	}
	return followed(o.Ref, policy, cluster.Deleted{Object: true, Finalizers: now.Finalizers})
}

// policyFinalizer is the finalizer that the server puts on an object that is deleted with a policy;
// empty if it puts none.
func policyFinalizer(ref graph.Ref, policy plan.Policy) string {
	if plan.IgnoresPolicy(ref) {
		return ""
	}
	return map[plan.Policy]string{plan.Foreground: plan.ForegroundFinalizer, plan.Orphan: plan.OrphanFinalizer}[policy]
}

// followed sees from the answer to a delete that the server has followed the policy (API-006,
// API-021).
func followed(ref graph.Ref, policy plan.Policy, answer cluster.Deleted) error {
	want := policyFinalizer(ref, policy)
	if want == "" || answer.Object && slices.Contains(answer.Finalizers, want) {
		return nil
	}
	return fmt.Errorf("%s %q: %w %s: its answer does not show the finalizer %s", ref.Resource, ref.Name, ErrPolicyIgnored,
		policy, want)
}

// note puts what came of a delete where it belongs.
func (r *run) note(g *graph.Graph, a plan.Action, err error) {
	switch {
	case err == nil:
		r.result.Done = append(r.result.Done, Done{a, g})
	case errors.Is(err, ErrNotSent), errors.Is(err, errUnprepared), errors.Is(err, errNoPolicy):
		r.result.Skipped = append(r.result.Skipped, Failure{Action: a, Graph: g, Err: err})
	case change.IsOver(err), errors.Is(err, errNotMeant):
		r.result.Skipped = append(r.result.Skipped, Failure{Action: a, Graph: g, Err: err})
		r.opts.OnEvent(ofAction(Skipped, g, a, err))
	default:
		r.fail(g, a, err)
	}
}

func (r *run) fail(g *graph.Graph, a plan.Action, err error) {
	r.result.Failed = append(r.result.Failed, Failure{Action: a, Graph: g, Err: err})
	r.opts.OnEvent(ofAction(Failed, g, a, err))
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
	again := next.Plan.Graph.UIDs(next.Plan.Roots)
	for _, a := range rest {
		uid := p.Graph.Ref(a.Object).UID
		switch why, out := next.LeftOut[uid]; {
		case again[uid]:
		case out:
			r.note(p.Graph, a, leftOut{why})
		default:
			r.note(p.Graph, a, r.leftOut(ctx, p.Graph, a))
		}
	}
	return next, true
}

// leftOut finds out why a new plan leaves a root out. That the root was not listed does not prove
// that it is gone.
func (r *run) leftOut(ctx context.Context, g *graph.Graph, a plan.Action) error {
	ref := g.Ref(a.Object)
	missing := fmt.Errorf("%s %q was not deleted: %w, and it was not found when it was planned again", ref.Resource,
		ref.Name, ErrChanged)
	_, err := objectOf(r.client, g, a.Object).Reread(ctx, missing)
	switch {
	case err != nil && ctx.Err() != nil:
		return ErrNotSent
	case err != nil:
		return err
	}
	return missing
}

// planned returns of a root what its plan rests on: as it was listed, or as it is since its
// references were made to block.
func (r *run) planned(g *graph.Graph, id graph.ID) *graph.Object {
	if o, ok := r.patched[g.Ref(id).UID]; ok {
		return o
	}
	return listedAs(g, id)
}

// listedAs is an object as it was listed.
func listedAs(g *graph.Graph, id graph.ID) *graph.Object {
	return &graph.Object{UID: g.Ref(id).UID, ResourceVersion: g.ResourceVersion(id), Finalizers: g.Finalizers(id),
		Owners: references(g, id)}
}

func references(g *graph.Graph, id graph.ID) []graph.OwnerReference {
	var owners []graph.OwnerReference
	for e := range g.Owners(id) {
		owners = append(owners, g.Reference(e))
	}
	return owners
}

// asPlanned reports whether what the plan rests on is as it was: the owners, and the finalizers of
// others. The collector's own are replaced by the delete, and an object that somebody else has
// begun to delete goes either way.
func asPlanned(was, now *graph.Object) bool {
	return slices.Equal(was.Owners, now.Owners) && slices.Equal(plan.Foreign(was.Finalizers), plan.Foreign(now.Finalizers))
}

// objectOf is an object of a graph on a server.
func objectOf(client *cluster.Client, g *graph.Graph, id graph.ID) change.Object {
	t, _ := g.Type(id)
	return change.Object{Server: client, Type: t, Ref: g.Ref(id)}
}

// naming names the object in an error that does not: a webhook's refusal, or an answer of something
// that is no API server.
func naming(ref graph.Ref, err error) error {
	var status apierrors.APIStatus
	var connection *url.Error
	switch {
	case errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name == ref.Name,
		errors.As(err, &connection):
		return err
	}
	return fmt.Errorf("%s %q: %w", ref.Resource, ref.Name, err)
}
