package act

import (
	"context"
	"errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// setter sets the field of an object in which it says how a program deletes what it names.
type setter struct {
	*patcher
	was     *graph.Object // as it was planned
	setting plan.Setting
	meant   meant
}

// meant says whether an object that has changed is still one that is to be deleted.
type meant func(ctx context.Context, t graph.Type, ref graph.Ref) error

func newSetter(client *cluster.Client, g *graph.Graph, a plan.Action, opts cluster.PatchOptions, still meant) *setter {
	p := newPatcher(client, g, a, opts)
	return &setter{p, p.now, *a.Setting, still}
}

// do sets the field. The error is ErrChanged or errNotMeant if the object is not what the plan is about any more: the delete finds that too, and has it planned again or
// leaves it alone.
func (s *setter) do(ctx context.Context) (*graph.Object, error) {
	pointer, ok := s.setting.Field.Pointer()
	if !ok {
		return nil, errors.New("the field is in a list")
	}
	steps := func() []cluster.PatchStep {
		return []cluster.PatchStep{{Op: "add", Path: pointer, Value: s.setting.Value}}
	}
	answer, err := s.patch(ctx, steps, func(now *graph.Object) error {
		if !asPlanned(s.was, now) {
			return ErrChanged
		}
		return s.meant(ctx, s.t, s.ref)
	})
	if err != nil || s.opts.DryRun {
		return answer, err
	}
	return answer, s.verify(ctx)
}

// verify reads the object again: a field that its type does not have is taken and not stored, and a webhook can set it back (API-033).
func (s *setter) verify(ctx context.Context) error {
	now, err := s.client.GetObject(ctx, s.t, s.ref.Namespace, s.ref.Name)
	switch {
	case cluster.IsAbsent(err, s.t, s.ref.Name):
		return errGone
	case err != nil:
		return err
	case string(now.GetUID()) != s.ref.UID:
		return errReplaced
	}
	if text, _ := s.setting.Field.Text(now.Object); text != s.setting.Value {
		return errors.New("the server has taken the change and does not show it; its type may not have the field, or a webhook may have undone it")
	}
	return nil
}
