package unfinalize

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// patch removes finalizers from the metadata.
func (p *performer) patch(ctx context.Context, o *Outcome, a Action) error {
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
func (p *performer) verify(ctx context.Context, o *Outcome, a Action, answered []string) error {
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
		p.done(o, a)
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
func (p *performer) deleteAgain(ctx context.Context, o *Outcome, a Action) error {
	c := o.Candidate
	answer, err := p.client.Delete(ctx, c.Type, c.Ref.Namespace, c.Ref.Name, c.Ref.UID, cluster.DeleteOptions{
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
	p.done(o, a)
	return nil
}

// finalize removes finalizers from the spec of a namespace. That it was empty when it was assessed
// does not tell what it is now.
func (p *performer) finalize(ctx context.Context, o *Outcome, a Action) error {
	c := o.Candidate
	if !p.overrides.Force && slices.ContainsFunc(a.assessments,
		func(v Assessment) bool { return lastHold(c.Object, v.FinalizerRef) }) {
		now, err := content(ctx, p.client, c.Ref.Name)
		if err != nil {
			return err
		}
		c.details.Empty = now
		c.reassess(c.Object)
		if err := against(c.By(ByFinalizing), p.overrides); err != nil {
			return err
		}
	}
	answer, err := p.client.Finalize(ctx, c.Object, without(c.Object, a.assessments), cluster.WriteOptions{})
	if err != nil {
		return err
	}
	return p.verify(ctx, o, a, specFinalizers(answer))
}
