package unfinalize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// patch removes finalizers from the metadata.
func (p *performer) patch(ctx context.Context, o *Outcome, a action) error {
	c := o.Candidate
	answer, err := c.remove(ctx, p.client, a.assessments, cluster.PatchOptions{})
	if err != nil {
		return err
	}
	return p.verify(ctx, o, a, answer.Finalizers)
}

// verify compares the finalizers in the answer to a write with what was asked. What was removed is
// done; what is there all the same is a failure: something that changes writes on their way has put
// it back (API-033).
func (p *performer) verify(ctx context.Context, o *Outcome, a action, answered []string) error {
	var removed, back []Assessment
	for _, v := range a.assessments {
		if slices.Contains(answered, v.Name) {
			back = append(back, v)
			continue
		}
		removed = append(removed, v)
		o.off[v.FinalizerRef] = true
	}
	if a.Finalizers = names(removed); len(removed) > 0 {
		p.done(o, a.Write)
	}
	if len(back) == 0 {
		return nil
	}
	err := p.client.PutBackAtOnce(ctx, o.Candidate.Type, "finalizer "+strings.Join(names(back), ", "))
	for _, v := range back {
		o.PutBack = append(o.PutBack, PutBack{FinalizerRef: v.FinalizerRef, InRequest: true, Webhooks: err.Mutators})
	}
	return err
}

// deleteAgain deletes the object in the background, as it was assessed.
func (p *performer) deleteAgain(ctx context.Context, o *Outcome, a action) error {
	c := o.Candidate
	answer, err := c.in(p.client).Delete(ctx, cluster.DeleteOptions{
		Policy: string(a.Policy), ResourceVersion: c.Object.GetResourceVersion(),
	})
	if err != nil {
		return err
	}
	o.Gone = answer.Gone
	for _, v := range a.assessments {
		o.asked[v.FinalizerRef] = true
	}
	// which is looked at again (API-006)
	ignored := func(v Assessment) bool { return slices.Contains(answer.Finalizers, v.Name) }
	a.Finalizers = names(slices.DeleteFunc(slices.Clone(a.assessments), ignored))
	p.done(o, a.Write)
	return nil
}

// finalize removes finalizers from the spec of a namespace. That it was empty when it was assessed
// does not tell what it is now.
func (p *performer) finalize(ctx context.Context, o *Outcome, a action) error {
	c := o.Candidate
	if !p.overrides.Force && slices.ContainsFunc(a.assessments,
		func(v Assessment) bool { return lastHold(c.Object, v.FinalizerRef) }) {
		now, err := content(ctx, p.client, c.Ref.Name)
		if err != nil {
			return err
		}
		c.details.Empty = now
		c.reassess(c.Object)
		if refused := against(c.by(ByFinalizing), p.overrides); len(refused) > 0 {
			return &RefusedError{Refusals: refused}
		}
	}
	answer, err := p.client.Finalize(ctx, c.Object, without(c.Object, a.assessments), cluster.WriteOptions{})
	if err != nil {
		return err
	}
	return p.verify(ctx, o, a, specFinalizers(answer))
}

// in is the object of a candidate on a server.
func (c *Candidate) in(client *cluster.Client) change.Object {
	return change.Object{Server: client, Type: c.Type, Ref: c.Ref}
}

// remove removes finalizers from the metadata of the object as it was assessed.
func (c *Candidate) remove(ctx context.Context, client *cluster.Client, assessments []Assessment,
	opts cluster.PatchOptions) (*graph.Object, error) {
	return c.in(client).Send(ctx, c.Object.GetResourceVersion(), removal(c.Object, assessments), opts)
}

// removal removes finalizers from the metadata of an object, each by where it stands and if it
// stands there; the others keep their order (P-07). They go from the last to the first, so that
// each step finds what it means where it was.
func removal(o *unstructured.Unstructured, assessments []Assessment) []cluster.PatchStep {
	var steps []cluster.PatchStep
	for i, name := range slices.Backward(o.GetFinalizers()) {
		if has(assessments, FinalizerRef{name, finalizer.InMetadata}) {
			path := fmt.Sprintf("/metadata/finalizers/%d", i)
			steps = append(steps, cluster.PatchStep{Op: "test", Path: path, Value: name},
				cluster.PatchStep{Op: "remove", Path: path})
		}
	}
	return steps
}

// without are the spec.finalizers of a namespace but for some.
func without(o *unstructured.Unstructured, assessments []Assessment) []string {
	return slices.DeleteFunc(slices.Clone(specFinalizers(o)), func(name string) bool {
		return has(assessments, FinalizerRef{name, finalizer.InSpec})
	})
}

func has(assessments []Assessment, h FinalizerRef) bool {
	return slices.ContainsFunc(assessments, func(v Assessment) bool { return v.FinalizerRef == h })
}

// orphan has the collector's loop do for one owner what the collector has not: take its references
// off all dependents, and only then the finalizer, when a listing that began later shows none and
// none can be hidden (RO-020).
func (p *performer) orphan(ctx context.Context, o *Outcome) error {
	c := o.Candidate
	var failed []plan.Event
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
		OnEvent: func(e plan.Event) {
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
	if hiding := summary.Graph.Hiding(summary.Gaps, c.Ref); len(hiding) > 0 {
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
		return apierrors.NewConflict(c.Type.GroupResource(), c.Ref.Name, change.ErrMoved)
	}
	return p.before(ctx, owner)
}

// notOrphaned is the error of an orphaning of which something failed. The owner's finalizer is the
// last to be removed, so it is still there.
func (o *Outcome) notOrphaned(failed []plan.Event) error {
	first := collected(failed[0].Action)
	o.Failed = &first
	var errs []error
	for _, e := range failed {
		var back *cluster.PutBackError
		switch a := e.Action; {
		case !errors.As(e.Err, &back): // the server's errors name the object
			errs = append(errs, e.Err)
		case a.Verb == plan.VerbRemoveFinalizer:
			ref := FinalizerRef{a.Finalizers[0], finalizer.InMetadata}
			o.PutBack = append(o.PutBack, PutBack{FinalizerRef: ref, InRequest: back.Times == 0, Manager: back.Manager,
				Webhooks: back.Mutators})
			return e.Err
		default:
			errs = append(errs, fmt.Errorf("%s %q: %w", a.Object.Resource, a.Object.Name, e.Err))
		}
	}
	return fmt.Errorf("its dependents were not all orphaned, so it keeps its finalizer: %w", errors.Join(errs...))
}

// collected is a write of the collector's loop, whose passes are nothing to who asked for it.
func collected(w plan.Write) plan.Write {
	if w.Pass = 0; w.Verb == plan.VerbRemoveFinalizer {
		w.Because = plan.Requested
	}
	return w
}
