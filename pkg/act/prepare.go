package act

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// preparing returns the writes of a plan that come before the first delete.
func preparing(p *plan.Plan) []plan.Action {
	var actions []plan.Action
	for _, a := range p.Actions {
		if (a.Verb == plan.VerbBlock || a.Verb == plan.VerbSetPolicy) && a.By == plan.ByClient {
			actions = append(actions, a)
		}
	}
	return actions
}

// prepareOne makes a write that comes before the first delete. It returns the object as it was
// answered; the error is change.ErrGone or change.ErrReplaced if there is nothing to write to any
// more.
func prepareOne(ctx context.Context, client *cluster.Client, g *graph.Graph, a plan.Action, opts cluster.PatchOptions,
	still meant) (*graph.Object, error) {
	if a.Verb == plan.VerbSetPolicy {
		return set(ctx, client, g, a, opts, still)
	}
	return block(ctx, client, g, a, opts)
}

// unprepared words the error of a write that comes before the first delete.
func unprepared(g *graph.Graph, a plan.Action, err error) error {
	ref := g.Ref(a.Object)
	if a.Verb == plan.VerbSetPolicy {
		return fmt.Errorf("%s of %s %q cannot be set to %s: %w", a.Setting.Field, ref.Resource, ref.Name,
			a.Setting.Value, err)
	}
	return fmt.Errorf("%s %q cannot be made to block its owners: %w", ref.Resource, ref.Name, err)
}

// prepare makes the writes of a plan that come before its deletes. It is false if one of them could
// not be made: then nothing is to be deleted, because an owner would not wait.
func (r *run) prepare(ctx context.Context, p *plan.Plan) bool {
	actions := preparing(p)
	answers, errs := make([]*graph.Object, len(actions)), make([]error, len(actions))
	cluster.Each(r.client, actions, func(i int, a plan.Action) {
		answers[i], errs[i] = prepareOne(ctx, r.client, p.Graph, a, cluster.PatchOptions{}, r.meant)
		r.wrote(p.Graph, a, errs[i])
	})
	ok := true
	for i, a := range actions {
		switch {
		case change.IsOver(errs[i]):
			r.note(p.Graph, a, errs[i])
		case errors.Is(errs[i], ErrChanged), errors.Is(errs[i], errNotMeant): // which the delete finds too
		case errs[i] != nil && ctx.Err() != nil:
			r.note(p.Graph, a, ErrNotSent)
			ok = false
		case errs[i] != nil:
			r.fail(p.Graph, a, fmt.Errorf("nothing was deleted: %w", unprepared(p.Graph, a, errs[i])))
			ok = false
		default:
			r.patched[p.Graph.Ref(a.Object).UID] = answers[i]
			r.note(p.Graph, a, nil)
		}
	}
	if ok {
		return true
	}
	why := errUnprepared
	if ctx.Err() != nil {
		why = ErrNotSent
	}
	for _, batch := range p.Batches() {
		for _, a := range batch {
			r.note(p.Graph, a, why)
		}
	}
	return false
}

// block makes those of an action's references block that are there, whatever has changed, and
// returns the object as it was answered. Setting blockOwnerDeletion can take the right to update
// the owner's finalizers (API-037).
func block(ctx context.Context, client *cluster.Client, g *graph.Graph, a plan.Action,
	opts cluster.PatchOptions) (*graph.Object, error) {
	owners := map[string]bool{} // the uids that the references are to name
	for e := range g.Owners(a.Object) {
		if slices.Contains(a.Edges, e.Index) {
			owners[g.Ref(e.Owner).UID] = true
		}
	}
	return objectOf(client, g, a.Object).Patch(ctx, change.Patch{
		PatchOptions: opts,
		Seen:         listedAs(g, a.Object),
		Decide: func(now *graph.Object) (steps []cluster.PatchStep, err error) {
			for i, ref := range now.Owners {
				if owners[ref.UID] && !ref.Block {
					steps = append(steps, change.SetInReference(i, ref.UID, "blockOwnerDeletion", true)...)
				}
			}
			return steps, nil
		},
		Verify: func(answered *graph.Object) error {
			if slices.ContainsFunc(answered.Owners,
				func(ref graph.OwnerReference) bool { return owners[ref.UID] && !ref.Block }) {
				return change.ErrNotShown
			}
			return nil
		},
	})
}

// meant reports whether an object that has changed is still one that is to be deleted.
type meant func(ctx context.Context, t graph.Type, ref graph.Ref) error

// set sets the field of an object in which it says how a program deletes what it names. The error
// is ErrChanged or errNotMeant if the object is not what the plan is about any more: the delete
// finds that too, and has it planned again or leaves it alone.
func set(ctx context.Context, client *cluster.Client, g *graph.Graph, a plan.Action, opts cluster.PatchOptions,
	still meant) (*graph.Object, error) {
	pointer, ok := a.Setting.Field.Pointer()
	if !ok {
		return nil, errors.New("the field is in a list")
	}
	o, was := objectOf(client, g, a.Object), listedAs(g, a.Object)
	answer, err := o.Patch(ctx, change.Patch{
		PatchOptions: opts,
		Seen:         was,
		Decide: func(now *graph.Object) ([]cluster.PatchStep, error) {
			if !asPlanned(was, now) {
				return nil, ErrChanged
			}
			if now != was {
				if err := still(ctx, o.Type, o.Ref); err != nil {
					return nil, err
				}
			}
			return []cluster.PatchStep{{Op: "add", Path: pointer, Value: a.Setting.Value}}, nil
		},
		Verify: func(*graph.Object) error { return nil }, // the answer has the metadata alone
	})
	if err != nil || opts.DryRun {
		return answer, err
	}
	return answer, isSet(ctx, o, a.Setting)
}

// isSet reads an object again: a field that its type does not have is taken and not stored, and a
// webhook can set it back (API-033).
func isSet(ctx context.Context, o change.Object, setting *plan.Setting) error {
	now, err := o.ReadContent(ctx)
	if err != nil {
		return err
	}
	if text, _ := setting.Field.Text(now.Object); text != setting.Value {
		return errors.New("the server accepted the change, but the object lacks it: " +
			"its type may not have the field, or a webhook may have undone it")
	}
	return nil
}

// Check sends the writes of a plan that are the client's with dryRun=All: everything happens on the
// server but the storing. It returns what was refused, and what was accepted without the finalizer
// that the policy asks for: such a server deletes at once (API-006).
func Check(ctx context.Context, client *cluster.Client, p *plan.Plan, gracePeriodSeconds *int64) (refused []Failure,
	ignored []plan.Action) {
	deletes := slices.Concat(append([][]plan.Action{p.First()}, p.Batches()...)...)
	answers, errs := make([]cluster.Deleted, len(deletes)), make([]error, len(deletes))
	byAdmission := make([]bool, len(deletes))
	cluster.Each(client, deletes, func(i int, a plan.Action) {
		answers[i], errs[i] = objectOf(client, p.Graph, a.Object).Delete(ctx, cluster.DeleteOptions{
			Policy: string(a.Policy), GracePeriodSeconds: gracePeriodSeconds, DryRun: true,
		})
		why := refusal(ctx, client, p.Graph, a, errs[i])
		byAdmission[i] = why != nil && !errors.Is(why, errUnanswered) && cluster.Unasked(why) == nil
	})
	refused = checkPreparations(ctx, client, p)
	for i, a := range deletes {
		ref := p.Graph.Ref(a.Object)
		switch {
		case errs[i] != nil:
			refused = append(refused, Failure{a, p.Graph, naming(ref, errs[i]), byAdmission[i]})
		case followed(ref, a.Policy, answers[i]) != nil:
			ignored = append(ignored, a)
		}
	}
	return refused, ignored
}

// checkPreparations sends the patches that come before the deletes. One that meets an object that
// has changed is no failure: it would be made anew.
func checkPreparations(ctx context.Context, client *cluster.Client, p *plan.Plan) []Failure {
	actions := preparing(p)
	whichever := func(context.Context, graph.Type, graph.Ref) error { return nil }
	errs := make([]error, len(actions))
	cluster.Each(client, actions, func(i int, a plan.Action) {
		_, errs[i] = prepareOne(ctx, client, p.Graph, a, cluster.PatchOptions{DryRun: true}, whichever)
	})
	var refused []Failure
	for i, a := range actions {
		if errs[i] != nil && !change.IsOver(errs[i]) && !errors.Is(errs[i], ErrChanged) {
			refused = append(refused, Failure{Action: a, Graph: p.Graph, Err: unprepared(p.Graph, a, errs[i])})
		}
	}
	return refused
}
