package unfinalize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// orphan has the collector's loop do for one owner what the collector has not: take its references
// off all dependents, and only then the finalizer, when a listing that began later shows none and
// none can be hidden (RO-020).
func (p *performer) orphan(ctx context.Context, o *Outcome) error {
	c := o.Candidate
	var failed []collect.Event
	var looking sync.Mutex
	loop := collect.New(p.client, collect.Options{
		List:    cluster.ListOptions{Namespace: c.Ref.Namespace},
		Only:    map[string]bool{c.Ref.UID: true},
		Waiting: []string{c.Ref.UID},
		Observe: collect.ObserveTime,
		Before: func(ctx context.Context, object graph.Ref, version string) error {
			looking.Lock()
			defer looking.Unlock()
			return p.beforeOrphaning(ctx, c, object, version)
		},
		OnEvent: func(e collect.Event) {
			if e.Err != nil {
				failed = append(failed, e)
				return
			}
			p.done(o, collected(e.Action))
		},
	})
	summary, err := loop.Run(ctx)
	if err != nil {
		return err
	}
	if len(failed) > 0 {
		return o.notOrphaned(failed)
	}
	now, err := p.read(ctx, c)
	if err != nil {
		return err
	}
	if !deleting(now) || !slices.Contains(now.GetFinalizers(), plan.OrphanFinalizer) {
		return nil
	}
	if hiding := plan.Hiding(summary.Graph, summary.Gaps, c.Ref); len(hiding) > 0 {
		return &RefusedError{Refusals: []Refusal{{Code: HiddenDependents,
			Because: "types that may contain dependents could not be listed (" + gapNames(hiding) + ")"}}}
	}
	if len(summary.Unread) > 0 {
		return fmt.Errorf("it keeps its finalizer: %s", summary.Unread[0].Message)
	}
	return errors.New("its dependents come and go, so it keeps its finalizer: try again")
}

// beforeOrphaning looks at the owner before a write of an orphaning, which takes a while. What
// frees the owner is the version that was looked at.
func (p *performer) beforeOrphaning(ctx context.Context, c *Candidate, object graph.Ref, version string) error {
	frees := object.UID == c.Ref.UID
	if !frees && p.opts.Before == nil {
		return nil
	}
	owner, err := p.read(ctx, c)
	switch {
	case err != nil:
		return err
	case frees && owner.GetResourceVersion() != version:
		return apierrors.NewConflict(schema.GroupResource{Group: c.Type.Group, Resource: c.Type.Resource}, c.Ref.Name,
			change.ErrMoved)
	}
	return p.before(ctx, owner)
}

// notOrphaned is the error of an orphaning of which something failed. The owner's finalizer is the
// last to be removed, so it is still there.
func (o *Outcome) notOrphaned(failed []collect.Event) error {
	first := collected(failed[0].Action)
	o.Failed = &first
	var errs []error
	for _, e := range failed {
		var back *cluster.PutBackError
		switch a := e.Action; {
		case !errors.As(e.Err, &back): // the server's errors name the object
			errs = append(errs, e.Err)
		case a.Verb == plan.VerbRemoveFinalizer:
			ref := FinalizerRef{a.Finalizer, finalizer.InMetadata}
			o.PutBack = append(o.PutBack, PutBack{FinalizerRef: ref, InRequest: back.Times == 0, Manager: back.Manager,
				Webhooks: back.Mutators})
			return e.Err
		default:
			errs = append(errs, fmt.Errorf("%s %q: %w", a.Object.Resource, a.Object.Name, e.Err))
		}
	}
	return fmt.Errorf("its dependents were not all orphaned, so it keeps its finalizer: %w", errors.Join(errs...))
}

// collected is a write of the collector's loop.
func collected(a collect.Action) Action {
	done := Action{Verb: a.Verb, Object: a.Object, Policy: a.Policy, Owners: a.Owners, Cause: a.Cause, method: ByOrphaning}
	if a.Verb == plan.VerbRemoveFinalizer {
		done.Finalizers = []string{plan.OrphanFinalizer}
	}
	return done
}
