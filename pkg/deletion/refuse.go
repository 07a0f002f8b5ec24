package deletion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/protect"
)

// Refused returns why the plan must not be performed; nil if it may. It asks nobody; asks says that
// a person is asked about objects that would be stuck. What the user may do of a plan of which a
// part is forbidden is not what the plan shows.
func (p *Planned) Refused(asks bool) error {
	switch {
	case p.Empty():
		return nil
	case len(p.Forbidden) > 0:
		return answer.Refuse(answer.WithHint(errors.New("nothing was deleted: "+strings.Join(p.Denials(), "; ")),
			"ask for the permission, or leave out the objects that need it; --dry-run=client shows the plan"))
	case len(p.Denied) > 0:
		return p.denied()
	case p.incomplete():
		return answer.Refuse(
			answer.WithHint(errors.New("nothing was deleted: types that may contain dependents could not be listed"),
				"--dry-run=client shows the plan; --allow-incomplete deletes anyway"))
	}
	if err := cmp.Or(p.TooMany(), p.bound(), p.unordered()); err != nil || asks {
		return err
	}
	return p.stuck()
}

// TooMany is the refusal of a plan that deletes more than Request.MaxDeletes allows; nil if it does
// not.
func (p *Planned) TooMany() error { return p.tooMany("nothing was deleted") }

// tooMany counts what the plan deletes beyond the total, and that.
func (p *Planned) tooMany(undone string) error {
	deletes, most := len(p.planner.total), p.planner.request.MaxDeletes
	for uid := range p.sent() {
		if !p.planner.total[uid] {
			deletes++
		}
	}
	if most == 0 || deletes <= most {
		return nil
	}
	return answer.Refuse(answer.WithHint(
		fmt.Errorf("%s: the plan deletes %s, and --max-deletes allows %d", undone, phrase.Count(deletes, "object"), most),
		"look at the plan, and give a higher --max-deletes if you want all of it"))
}

// count adds to the total what a plan deletes that was agreed to.
func (p *Planned) count() { maps.Copy(p.planner.total, p.sent()) }

// sent are the uids of all that gets a delete, also where that can never end.
func (p *Planned) sent() map[string]bool {
	return p.Graph.UIDs(slices.Concat(p.Deleted, plan.Objects(p.Deadlocked)))
}

// bound is the refusal of a deletion that could not end: a program does not act on it, because what
// the object names is bound to another one.
func (p *Planned) bound() error {
	for _, id := range p.Deleted {
		for _, f := range p.links.Found(id) {
			if f.Bound != "" && f.Source == id {
				source, end := p.Graph.Ref(f.Source), p.Graph.Ref(f.End)
				return answer.Refuse(
					answer.WithHint(
						fmt.Errorf("nothing was deleted: %s is bound to %s, so that %s refuses to act on the deletion of %s, which would never complete",
							end.Located(), f.Bound, f.Definition.Deletion.By, source.Located()),
						fmt.Sprintf("let %s of %s name an object of its own, or name none, and delete it then", f.Field,
							source.Located())))
			}
		}
	}
	return nil
}

// incomplete reports whether dependents may be hidden, and that was not allowed.
func (p *Planned) incomplete() bool { return len(p.Hiding) > 0 && !p.planner.request.AllowIncomplete }

// DryRun sends all deletes of the plan with dryRun=All. The plan shows afterwards what the server
// would not delete of what others delete, and what is stuck then. It returns what the server
// refuses of what this command sends, and keeps it in Refusals; it is a finding, and no failure, for
// who asked whether it refuses any.
func (p *Planned) DryRun(ctx context.Context, asked bool) error {
	p.ask(ctx, act.MostAsked)
	p.Learn(p.details)
	refused, ignored := act.Check(ctx, p.planner.client, p.Plan, p.planner.request.GracePeriodSeconds)
	var errs []error
	for _, r := range refused {
		err := r.Err
		if r.ByAdmission {
			p.Refusals = append(p.Refusals, v1alpha1.Protected{Object: r.Graph.Ref(r.Action.Object), Message: err.Error()})
			if asked {
				err = answer.Refuse(err)
			}
		}
		errs = append(errs, err)
	}
	if len(ignored) > 0 {
		errs = append(errs, p.policyIgnored(ignored[0]))
	}
	return errors.Join(errs...)
}

// check asks the server whether it would follow the policy. Refused deletes are told when they are
// sent, each for itself.
func (p *Planned) check(ctx context.Context) error {
	if p.Policy == plan.Background {
		return nil
	}
	refused, ignored := act.Check(ctx, p.planner.client, p.Plan, p.planner.request.GracePeriodSeconds)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(ignored) > 0 {
		return p.policyIgnored(ignored[0])
	}
	return cannotWait(refused)
}

// policyIgnored is the refusal of a deletion whose policy the server would not carry out.
func (p *Planned) policyIgnored(ignored plan.Action) error {
	ref := p.Graph.Ref(ignored.Object)
	return answer.Refuse(answer.WithHint(
		fmt.Errorf("the server would delete %s %q immediately and ignore the policy %s: it does not support garbage collection for this type", ref.Resource, ref.Name, ignored.Policy),
		"use --cascade=background, and delete the dependents or remove their owner references yourself"))
}

// cannotWait is the refusal of a deletion for which not all owners can be made to wait: not all
// references can be made to block, or a policy cannot be set.
func cannotWait(refused []act.Failure) error {
	var errs []error
	for _, r := range refused {
		hint := ""
		switch r.Action.Verb {
		case plan.VerbBlock:
			hint = "without --strict, owners do not wait for dependents that do not block them"
		case plan.VerbSetPolicy:
			hint = "with --cascade=background the field stays as it is, and the object does not wait"
		default:
			continue
		}
		errs = append(errs, answer.Refuse(answer.WithHint(fmt.Errorf("nothing was deleted: %w", r.Err), hint)))
	}
	return errors.Join(errs...)
}

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
