package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// errMoved ends the tries at an object that has changed since the decision; the next pass decides
// anew.
var errMoved = errors.New("it was changed meanwhile")

// write sends a write until the server takes it or the object has changed. Each try carries the
// resourceVersion of a version in which everything that the decision rests on is as it was.
func (p *pass) write(ctx context.Context, a *plan.Write, id graph.ID, send func() error) bool {
	if !p.agreedTo(a.Verb, id, a.Owners...) {
		return false
	}
	a.Object, a.Pass = p.graph.Ref(id), p.loop.passes
	if p.loop.givenUp(a.Object.UID) || p.givesUp(ctx, a, id) {
		return false
	}
	switch err := p.send(ctx, a, id, send); {
	case err == nil:
		p.mu.Lock()
		p.result.Writes++
		p.mu.Unlock()
		p.expect(id)
		p.loop.onEvent(plan.Event{Action: *a})
		return true
	case ctx.Err() != nil:
	case errors.Is(err, change.ErrGone):
		p.removed(id)
	case errors.Is(err, change.ErrReplaced):
		p.removed(id)
		p.again()
	case errors.Is(err, errMoved), errors.Is(err, change.ErrMoved):
		p.again()
	case apierrors.IsUnauthorized(err):
		p.fail(err)
	case apierrors.IsNotFound(err):
		p.loop.onEvent(plan.Event{Action: *a, Err: fmt.Errorf("%s is still there, and the server answered: %w",
			object(p.object(id).Type, a.Object.Name), err)})
	default:
		p.loop.onEvent(plan.Event{Action: *a, Err: err})
	}
	return false
}

// send is write without what comes of it. What is refused is sent again if only what does not
// matter was changed meanwhile.
func (p *pass) send(ctx context.Context, a *plan.Write, id graph.ID, send func() error) error {
	var refusal error
	return change.Write{
		Seen: p.version(id),
		Read: func(ctx context.Context) (string, error) {
			err := p.reread(ctx, id)
			if err != nil && apierrors.IsNotFound(refusal) && !change.IsOver(err) && !apierrors.IsUnauthorized(err) {
				// Its type may not be served any more, which the next pass finds out; that it could not
				// be read is told.
				err = errMoved
			}
			return p.version(id), err
		},
		Decide: func(context.Context) (func(context.Context) error, error) {
			return func(ctx context.Context) error {
				if refusal = p.sendOnce(ctx, a, id, send); p.absent(refusal, id) {
					return change.ErrGone
				}
				return refusal
			}, nil
		},
	}.Do(ctx)
}

func (p *pass) sendOnce(ctx context.Context, a *plan.Write, id graph.ID, send func() error) error {
	if err := p.covered(ctx, a.Verb, id); err != nil {
		return err
	}
	if before := p.loop.opts.Before; before != nil {
		if err := before(ctx, a.Object, p.version(id)); err != nil {
			return err
		}
	}
	err := send()
	if err == nil || errors.As(err, new(*cluster.PutBackError)) {
		p.loop.taken(a)
	}
	return err
}

// absent reports whether an error proves that an object is gone.
func (p *pass) absent(err error, id graph.ID) bool {
	o := p.object(id)
	return cluster.IsAbsent(err, o.Type, o.Ref.Name)
}

// object is an object of the graph on the server.
func (p *pass) object(id graph.ID) change.Object {
	t, _ := p.graph.Type(id)
	return change.Object{Server: p.client, Type: t, Ref: p.graph.Ref(id)}
}

// version is the resourceVersion that what is known of an object was read in.
func (p *pass) version(id graph.ID) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v, ok := p.live[id]; ok {
		return v
	}
	return p.graph.ResourceVersion(id)
}

// reread reads an object again. The error is errMoved if anything has changed that the decision
// rests on, change.ErrGone or change.ErrReplaced, or why it cannot be read.
func (p *pass) reread(ctx context.Context, id graph.ID) error {
	o := p.object(id)
	now, err := p.get(ctx, o.Type, o.Ref.Namespace, o.Ref.Name)
	switch {
	case p.absent(err, id):
		return change.ErrGone
	case err != nil:
		return err
	case now.UID != o.Ref.UID:
		return change.ErrReplaced
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isUnchanged(id, now) {
		return errMoved
	}
	p.live[id] = now.ResourceVersion
	return nil
}

// isUnchanged reports whether what decisions rest on is as the projection has it: the references,
// the collector's finalizers, and whether the object is being deleted. The lock is held.
func (p *pass) isUnchanged(id graph.ID, now *graph.Object) bool {
	i := 0
	for e := range p.projection.Owners(id) {
		r := p.graph.Reference(e)
		if r.Block = p.projection.Blocks(e); i == len(now.Owners) || r != now.Owners[i] {
			return false
		}
		i++
	}
	item, _ := p.projection.Item(id)
	return i == len(now.Owners) && item.Deleting == (now.DeletionTimestamp != 0) &&
		item.Orphan == slices.Contains(now.Finalizers, plan.OrphanFinalizer) &&
		item.Foreground == slices.Contains(now.Finalizers, plan.ForegroundFinalizer)
}

// replaces reports whether what was read is another object under the same name, so that the one
// that is meant is gone. An answer without a uid says nothing (RO-004).
func replaces(now *graph.Object, ref graph.Ref) bool { return now.UID != "" && now.UID != ref.UID }

// removed records that an object was seen to be gone.
func (p *pass) removed(id graph.ID) {
	p.loop.proofs.removed(p.graph.Ref(id).UID)
	p.change(func(o *plan.Projection) { o.Removed(id) })
}

// delete sends a DELETE and records what it has brought about.
func (p *pass) delete(ctx context.Context, j assessed) {
	if !p.agreedTo(plan.VerbDelete, j.id) {
		return
	}
	if !p.loop.mayDelete() {
		p.fail(ErrMaxDeletes)
		return
	}
	var answer cluster.Deleted
	a := &plan.Write{Verb: plan.VerbDelete, Policy: j.policy, Because: j.cause, Cause: j.owner}
	taken := p.write(ctx, a, j.id, func() (err error) {
		answer, err = p.object(j.id).Delete(ctx, cluster.DeleteOptions{
			Policy: string(j.policy), ResourceVersion: p.version(j.id), GracePeriodSeconds: p.loop.opts.GracePeriodSeconds,
		})
		a.RemainingFinalizers = answer.Finalizers
		return err
	})
	switch {
	case !taken:
		p.loop.notDeleted()
	case answer.Gone:
		p.removed(j.id)
	default:
		p.change(func(o *plan.Projection) { o.Delete(j.id, j.policy) })
		if j.policy == plan.Background {
			p.confirm(ctx, j.id, len(answer.Finalizers) > 0)
		}
	}
}

// confirm finds out whether an object that was released, or deleted in the background, is gone: the
// answer does not tell for all types (API-021). It matters to those who depend on it, which may be
// many, and to those who wait for it, whom the next listing will tell.
func (p *pass) confirm(ctx context.Context, id graph.ID, hasFinalizers bool) {
	if hasFinalizers {
		return
	}
	if p.graph.DependentCount(id) == 0 {
		p.again()
		return
	}
	if p.look(ctx, id) != nil {
		p.again()
	}
}

// look reads an object live: nil if it is gone, which it records, or if another pass has to tell.
func (p *pass) look(ctx context.Context, id graph.ID) *graph.Object {
	o := p.object(id)
	switch now, err := p.get(ctx, o.Type, o.Ref.Namespace, o.Ref.Name); {
	case p.absent(err, id), err == nil && replaces(now, o.Ref):
		p.removed(id)
	case err == nil && now.UID == o.Ref.UID:
		return now
	default:
		p.again()
	}
	return nil
}

// removeOwnerRefs removes references from an object, by where they stand in the version that the
// decision is about.
func (p *pass) removeOwnerRefs(ctx context.Context, id graph.ID, edges []graph.Edge, because plan.ReasonCode,
	cause graph.Ref) bool {
	return p.patchReferences(ctx, plan.Write{Verb: plan.VerbOrphan, Because: because, Cause: cause}, id, edges,
		change.RemoveReference, (*plan.Projection).OwnerRefRemoved)
}

// unblock sets blockOwnerDeletion to false on references of an object that block, so that a cycle
// comes to an end (GC-054).
func (p *pass) unblock(ctx context.Context, id graph.ID, refs []graph.Edge, because plan.ReasonCode,
	cause graph.Ref) bool {
	var blocking []graph.Edge
	p.mu.Lock()
	for _, e := range refs {
		if p.projection.Blocks(e) {
			blocking = append(blocking, e)
		}
	}
	p.mu.Unlock()
	if len(blocking) == 0 {
		return true
	}
	unblock := func(at int, uid string) []cluster.PatchStep {
		return change.SetInReference(at, uid, "blockOwnerDeletion", false)
	}
	return p.patchReferences(ctx, plan.Write{Verb: plan.VerbUnblock, Because: because, Cause: cause}, id, blocking,
		unblock, (*plan.Projection).Unblocked)
}

// patchReferences changes some references of an object and records it. Where they stand is worked
// out for each try, and tested: a step that met another reference would condemn the object or keep
// it.
func (p *pass) patchReferences(ctx context.Context, a plan.Write, id graph.ID, edges []graph.Edge, steps referenceSteps,
	record func(*plan.Projection, graph.Edge)) bool {
	o := p.object(id)
	for _, e := range edges {
		a.Owners = append(a.Owners, p.graph.Ref(e.Owner).UID)
	}
	return p.write(ctx, &a, id, func() error {
		answer, err := o.Send(ctx, p.version(id), p.stepsOf(id, edges, steps), cluster.PatchOptions{})
		if err != nil {
			return err
		}
		p.loop.wrote(o.Ref.UID, answer.ResourceVersion)
		p.mu.Lock()
		p.live[id] = answer.ResourceVersion
		for _, e := range edges {
			if !undone(answer, p.graph.Ref(e.Owner).UID, a.Verb) {
				record(p.projection, e)
			}
		}
		p.mu.Unlock()
		return p.verify(ctx, id, answer, edges, a.Verb)
	})
}

// referenceSteps are the steps that change the reference at a place, the one to the owner with the
// uid.
type referenceSteps func(at int, uid string) []cluster.PatchStep

// stepsOf changes those of the references that are still there, from the last to the first, so that
// each step finds what it means where it was.
func (p *pass) stepsOf(id graph.ID, edges []graph.Edge, of referenceSteps) []cluster.PatchStep {
	p.mu.Lock()
	defer p.mu.Unlock()
	var steps []cluster.PatchStep
	at := 0
	for e := range p.projection.Owners(id) {
		if slices.ContainsFunc(edges, func(x graph.Edge) bool { return x.Index == e.Index }) {
			steps = append(of(at, p.graph.Ref(e.Owner).UID), steps...)
		}
		at++
	}
	return steps
}
