package deletion

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/protect"
)

// findDenied finds out which deletes of this command a policy of kubectl gc protect denies. If the
// policies cannot be listed, nothing is said: the server answers when a delete is sent. The error is
// the end of ctx.
func (pl *planner) findDenied(ctx context.Context, reader *cluster.Reader, p *plan.Plan, details *plan.Details) error {
	all, err := protect.Stored(ctx, reader)
	if len(all) == 0 {
		return err
	}
	user, _ := pl.client.WhoAmI(ctx) // nobody is excepted without a name
	for _, a := range p.Actions {
		if a.Verb != plan.VerbDelete || !slices.Contains(pl.request.writers(), a.By) {
			continue
		}
		uid := p.Graph.Ref(a.Object).UID
		i := slices.IndexFunc(all, func(d protect.Denial) bool {
			return d.DeniesTo(user, p.Graph, a.Object, a.Policy == plan.Orphan)
		})
		if i >= 0 {
			details.Denied = append(details.Denied, plan.Denied{
				Object: a.Object, Policy: all[i].Policy, Protects: all[i].Protects, Itself: all[i].UID == uid})
		}
	}
	return context.Cause(ctx)
}

// denied is the refusal of a plan with a delete that a policy denies.
func (p *Planned) denied() error {
	first, more := p.Denied[0], ""
	if n := len(p.Denied) - 1; n > 0 {
		more = fmt.Sprintf("; %s denied, too", phrase.Count(n, "more deletion")+phrase.Plural(n, " is", " are"))
	}
	object := p.Graph.Ref(first.Object)
	allow := append(append([]string{"kubectl", "annotate"}, object.Arguments()...), protect.Lifts+"=")
	return answer.Refuse(answer.WithHint(errors.New("nothing was deleted: "+first.Denial(object.Located())+more),
		fmt.Sprintf("--dry-run=client shows the plan; if you mean it, %s allows it", phrase.Command(allow...))))
}
