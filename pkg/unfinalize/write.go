package unfinalize

import (
	"context"
	"slices"

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
	o.note(verdicts, answer.Finalizers)
	p.done(o, Done{Verb: plan.VerbRemoveFinalizer, Object: c.Ref, Finalizers: names(verdicts)})
	return nil
}

// note remembers what was in the answer in spite of being taken off.
func (o *Outcome) note(verdicts []Verdict, answered []string) {
	for _, v := range verdicts {
		if slices.Contains(answered, v.Name) {
			o.answered[v.Held] = true
		}
	}
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
	p.done(o, Done{Verb: plan.VerbDelete, Object: c.Ref, Policy: plan.Background, Finalizers: names(verdicts)})
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
	o.note(verdicts, specFinalizers(answer))
	p.done(o, Done{Verb: plan.VerbFinalizeNamespace, Object: c.Ref, Finalizers: names(verdicts)})
	return nil
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
