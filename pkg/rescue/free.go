package rescue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// free removes the finalizers of the object that were agreed on, as kubectl gc unfinalize does, and
// waits until it is gone. The orphan finalizer is the last: the collector may be alive, and it has
// nothing to do any more.
func (r *rescuer) free(ctx context.Context) error {
	if r.p.Stage == Gone {
		r.mayMiss()
		return nil
	}
	var agreed, orphan []string
	for _, c := range r.p.Finalizers.Candidates() {
		for _, name := range c.Names {
			if name == plan.OrphanFinalizer {
				orphan = append(orphan, name)
			} else {
				agreed = append(agreed, name)
			}
		}
	}
	force := r.p.Overrides
	force.Force = true // only the collector is overridden, and data were weighed when it was planned
	for _, part := range []struct {
		names     []string
		overrides unfinalize.Overrides
	}{{agreed, r.p.Overrides}, {orphan, force}} {
		if len(part.names) == 0 && len(agreed)+len(orphan) > 0 {
			continue
		}
		if gone, err := r.remove(ctx, part.names, part.overrides); gone || err != nil {
			return err
		}
	}
	return r.untilGone(ctx)
}

// remove removes finalizers from the object, and reports whether it is gone. Of an object without
// any, the deletion is completed.
func (r *rescuer) remove(ctx context.Context, names []string, overrides unfinalize.Overrides) (bool, error) {
	live, err := r.live(ctx)
	if live == nil && err == nil {
		r.mayMiss()
		return true, nil
	}
	if err != nil {
		return false, err
	}
	had := unfinalize.NamesOn(live)
	due := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(had, name) })
	if len(due) == 0 && len(had) > 0 {
		return false, nil
	}
	planned, err := unfinalize.Plan(ctx, r.q, r.known, unfinalize.Request{Finalizers: due, Overrides: overrides})
	switch {
	case cluster.IsAbsent(err, r.p.Type, r.p.Ref.Name):
		r.mayMiss()
		return true, nil
	case err != nil:
		return false, err
	}
	c := planned.Candidates()[0]
	if c.Ref.UID != r.p.Ref.UID {
		r.mayMiss()
		return true, nil
	}
	for _, row := range planned.Refused() {
		return false, answer.Refuse(fmt.Errorf("%s was not freed: %s", r.p.Ref.Quoted(),
			row.Assessment.Against(overrides)[0].Because))
	}
	var outdated error
	o := unfinalize.Perform(ctx, r.q.Client, planned, unfinalize.Options{
		Before: func(ctx context.Context, live *unstructured.Unstructured) error {
			had = unfinalize.NamesOn(live)
			outdated = r.before(ctx, live)
			return outdated
		},
		OnEvent: func(e plan.Event) {
			if e.Err == nil {
				r.done(e.Action)
				r.freed = len(had) == len(e.Action.Finalizers) // nothing holds it any more
			}
		},
	})[0]
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case outdated != nil:
		return false, outdated
	case o.Gone:
		r.mayMiss()
	}
	return o.Gone, r.notFreed(ctx, o)
}

// mayMiss says of an object that is gone, and not by what this run has done, that it may have been
// changed after it was saved.
func (r *rescuer) mayMiss() {
	if r.freed {
		return
	}
	r.out.Skip(r.p.Ref,
		"it was gone before this run had freed it; what was changed after it was archived, if anything, is not restored")
}

// notFreed is the error of what unfinalize could not do.
func (r *rescuer) notFreed(ctx context.Context, o *unfinalize.Outcome) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case o.IsPutBack():
		back := o.PutBack[0]
		who := "another client"
		if back.Manager != "" {
			who = fmt.Sprintf("%q", back.Manager)
		}
		return answer.Refuse(fmt.Errorf("%s was not freed: %s was put back by %s; stop it first", r.p.Ref.Quoted(),
			back.Name, who))
	case o.LeftAlone() && !errors.Is(o.Err, change.ErrReplaced):
		return answer.Refuse(fmt.Errorf("%s was not freed: %w", r.p.Ref.Quoted(), o.Err))
	case o.Err != nil && !errors.Is(o.Err, change.ErrReplaced):
		if o.Failed != nil {
			r.tell(plan.Event{Action: *o.Failed, Err: o.Err})
		}
		return fmt.Errorf("%s was not freed: %w", r.p.Ref.Quoted(), o.Err)
	}
	return nil
}

// live reads the object, nil if it is proven to be absent, or if another one has its name.
func (r *rescuer) live(ctx context.Context) (*unstructured.Unstructured, error) {
	o, err := change.Object{Server: r.q.Client, Type: r.p.Type, Ref: r.p.Ref}.ReadContent(ctx)
	if change.IsOver(err) {
		return nil, nil
	}
	return o, err
}

// errTimedOut ends the wait for an object.
var errTimedOut = errors.New("timed out")

// untilGone watches until the object is gone. After the time-out, the error names what holds it.
func (r *rescuer) untilGone(ctx context.Context) error {
	watching, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if r.opts.Timeout > 0 {
		limited, cancel := context.WithTimeoutCause(watching, r.opts.Timeout, errTimedOut)
		defer cancel()
		watching = limited
	}
	var gone atomic.Bool
	err := r.q.Client.Watch(watching, []cluster.ResumePoint{{Type: r.p.Type, Namespace: r.p.Ref.Namespace}},
		func(c cluster.Change) {
			if c.Object == nil && !c.Relisted[r.p.Ref.UID] || c.Object != nil && c.Gone && c.Object.UID == r.p.Ref.UID {
				gone.Store(true)
				stop(nil)
			}
		})
	switch {
	case gone.Load():
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !errors.Is(context.Cause(watching), errTimedOut):
		return err
	}
	live, err := r.live(ctx)
	if live == nil || err != nil {
		return err
	}
	holds := "its grace period is pending"
	if names := unfinalize.NamesOn(live); len(names) > 0 {
		holds = "held by " + strings.Join(names, ", ")
	}
	r.out.Remaining = append(r.out.Remaining, v1alpha1.SkippedObject{Object: r.p.Ref, Because: holds})
	return answer.Refuse(fmt.Errorf("%s was not created again: timed out after %s, and it still exists, %s",
		r.p.Ref.Quoted(), r.opts.Timeout, holds))
}
