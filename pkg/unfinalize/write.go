package unfinalize

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// patch takes finalizers off the metadata.
func (p *performer) patch(ctx context.Context, o *Outcome, verdicts []Verdict) error {
	c := o.Case
	answer, err := p.client.Patch(ctx, c.Type, c.Ref.Namespace, c.Ref.Name, removal(c.Object, verdicts), cluster.PatchOptions{})
	if err != nil {
		return err
	}
	return p.verify(ctx, o, Done{Verb: plan.VerbRemoveFinalizer, Object: c.Ref, Outside: leftBy(c.Object, verdicts)}, verdicts, answer.Finalizers)
}

// verify compares the finalizers in the answer to a write with what was asked. What was removed is done; what is there all the same is a failure: something
// that changes writes on their way has put it back (API-033).
func (p *performer) verify(ctx context.Context, o *Outcome, d Done, verdicts []Verdict, answered []string) error {
	var removed, back []Verdict
	for _, v := range verdicts {
		if slices.Contains(answered, v.Name) {
			back = append(back, v)
			continue
		}
		removed = append(removed, v)
		o.off[v.Held] = true
	}
	if d.Finalizers = names(removed); len(removed) > 0 {
		p.done(o, d)
	}
	if len(back) == 0 {
		return nil
	}
	err := p.client.PutBackAtOnce(ctx, o.Case.Type, "finalizer "+strings.Join(names(back), ", "))
	for _, v := range back {
		o.PutBack = append(o.PutBack, PutBack{Held: v.Held, InRequest: true, Webhooks: err.Mutators})
	}
	return err
}

// deleteAgain deletes the object in the background, as it was judged.
func (p *performer) deleteAgain(ctx context.Context, o *Outcome, verdicts []Verdict) error {
	c := o.Case
	answer, err := p.client.Delete(ctx, c.Type, c.Ref.Namespace, c.Ref.Name, c.Ref.UID, cluster.DeleteOptions{
		Policy: string(plan.Background), ResourceVersion: c.Object.GetResourceVersion(),
	})
	if err != nil {
		return err
	}
	o.Gone = answer.Gone
	for _, v := range verdicts {
		o.asked[v.Held] = true
	}
	ignored := func(v Verdict) bool { return slices.Contains(answer.Finalizers, v.Name) } // which is looked at again (API-006)
	removed := slices.DeleteFunc(slices.Clone(verdicts), ignored)
	p.done(o, Done{Verb: plan.VerbDelete, Object: c.Ref, Policy: plan.Background, Finalizers: names(removed)})
	return nil
}

// finalize takes finalizers off the spec of a namespace. That it was empty when it was judged does not tell what it is now.
func (p *performer) finalize(ctx context.Context, o *Outcome, verdicts []Verdict) error {
	c := o.Case
	if !p.opts.Terms.Force && slices.ContainsFunc(verdicts, func(v Verdict) bool { return lastHold(c.Object, v.Held) }) {
		now, err := content(ctx, p.client, c.Ref.Name)
		if err != nil {
			return err
		}
		c.facts.Empty = now
		c.again(c.Object)
		if err := against(c.Goes(ByFinalizing), p.opts.Terms); err != nil {
			return err
		}
	}
	answer, err := p.client.Finalize(ctx, c.Object, without(c.Object, verdicts), cluster.FinalizeOptions{})
	if err != nil {
		return err
	}
	return p.verify(ctx, o, Done{Verb: plan.VerbFinalizeNamespace, Object: c.Ref}, verdicts, specFinalizers(answer))
}

func names(verdicts []Verdict) []string {
	var list []string
	for _, v := range verdicts {
		if v.Name != "" {
			list = append(list, v.Name)
		}
	}
	return list
}
