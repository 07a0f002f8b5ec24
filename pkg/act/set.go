package act

import (
	"context"
	"errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// meant says whether an object that has changed is still one that is to be deleted.
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
	o, was := objectOf(client, g, a), listedAs(g, a.Object)
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
		return errors.New(
			"the server has taken the change and does not show it; its type may not have the field, or a webhook may have undone it")
	}
	return nil
}
