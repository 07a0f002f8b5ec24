// Package finalizers finds out why whoever removes a finalizer has not done so.
package finalizers

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/refusal"
)

// Examiner says why whoever removes a finalizer has not done so.
type Examiner struct {
	*core.Examination
	refusal *refusal.Examiner
	needs   dependencies
	holds   holders
}

// dependencies finds what whoever removes a finalizer needs for that, and is not there.
type dependencies struct{ *core.Examination }

// holders finds what somebody waits for before it removes a finalizer: other objects, and those that
// use this one.
type holders struct{ *core.Examination }

// New returns an examiner of an examination.
func New(c *core.Examination, r *refusal.Examiner) *Examiner {
	return &Examiner{c, r, dependencies{c}, holders{c}}
}

// Because returns why a finalizer is still on an object that was read whole: that its parent is
// gone, what its actor lacks, what uses the object, and who the actor is. An actor that lives is no
// cause of its own where it is proven what it waits for.
func (e *Examiner) Because(ctx context.Context, o *unstructured.Unstructured, name string,
	refused []core.Finding) []core.Finding {
	a, err := e.Actors.Judge(ctx, o, name)
	if err != nil {
		return nil // the context has ended
	}
	by := e.by(ctx, o, a, refused)
	if f, orphaned := e.orphaned(ctx, o, a); orphaned {
		return append(core.Taken([]core.Finding{f}, by), refused...)
	}
	q := &question{o: o, a: a, refused: refused}
	var own []core.Finding
	for _, p := range e.probes() {
		own = append(own, p(ctx, q)...)
	}
	by = core.WithEvidenceBehind(by, q.suspects...)
	if q.over { // whoever removes the finalizer went with that
		return core.Taken(own, by)
	}
	if !q.proven {
		return append(own, by...)
	}
	return core.Awaited(own, by)
}

// question is why the actor of a finalizer has not removed it, with what has been found so far.
type question struct {
	o       *unstructured.Unstructured
	a       actor.Actor
	refused []core.Finding
	// proven says that what was found keeps the actor from removing it, and suspects are what may.
	proven bool
	// over says that what is missing took with it what was to be cleaned up.
	over     bool
	suspects []v1alpha1.Observation
}

// probes find out what an actor waits for. All are asked.
func (e *Examiner) probes() []func(context.Context, *question) []core.Finding {
	return []func(context.Context, *question) []core.Finding{e.refusedToActor, e.unconverted, e.needs.lacking,
		e.needs.creating, e.holds.held, e.holds.deniedTo, e.holds.used, e.holds.saysInUse}
}

// refusedToActor returns who refuses to the actor what is not refused to the user.
func (e *Examiner) refusedToActor(ctx context.Context, q *question) []core.Finding {
	if len(q.refused) > 0 || q.o.GetDeletionTimestamp() == nil {
		return nil
	}
	own, suspects := e.refusal.RefusedToActor(ctx, q.o, q.a)
	q.proven, q.suspects = len(own) > 0, suspects
	for _, f := range e.refusal.QuotedDenials(ctx, q.o) {
		if !slices.ContainsFunc(own, func(o core.Finding) bool { return o.About != nil && *o.About == *f.About }) {
			own = append(own, f)
		}
	}
	return own
}

// unconverted returns why the server cannot read an object in the version that it prefers, and that
// controllers use as a rule: it was listed in another one, which needs no conversion.
func (e *Examiner) unconverted(ctx context.Context, q *question) []core.Finding {
	kind := q.o.GroupVersionKind()
	r, served := e.Reader.KindIn(kind.Group, kind.Kind)
	if !served || r.Version == kind.Version || cluster.BuiltIn(kind.Group) {
		return nil
	}
	_, err := e.Reader.GetLive(ctx, r.Type, q.o.GetNamespace(), q.o.GetName())
	if err == nil {
		return nil
	}
	return e.refusal.Conversions(ctx, err.Error())
}
