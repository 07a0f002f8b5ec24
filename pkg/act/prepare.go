package act

import (
	"context"
	"errors"
	"fmt"

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
