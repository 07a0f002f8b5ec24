package act

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// setter sets the field of an object in which it says how a program deletes what it names.
type setter struct {
	client  *cluster.Client
	t       graph.Type
	ref     graph.Ref
	setting plan.Setting
	opts    cluster.PatchOptions
	// resourceVersion is that of the object as it was seen last.
	resourceVersion string
}

func newSetter(client *cluster.Client, g *graph.Graph, a plan.Action, opts cluster.PatchOptions) *setter {
	t, _ := g.Type(a.Object)
	return &setter{client: client, t: t, ref: g.Ref(a.Object), setting: a.Setting, opts: opts, resourceVersion: g.ResourceVersion(a.Object)}
}

func (s *setter) do(ctx context.Context) (*graph.Object, error) {
	pointer, ok := s.setting.Field.Pointer()
	if !ok {
		return nil, errors.New("the field is in a list")
	}
	for range maxTries {
		steps := append(cluster.Unchanged(s.ref.UID, s.resourceVersion), cluster.PatchStep{Op: "add", Path: pointer, Value: s.setting.Value})
		answer, refusal := s.client.Patch(ctx, s.t, s.ref.Namespace, s.ref.Name, steps, s.opts)
		switch {
		case refusal == nil && s.opts.DryRun:
			return answer, nil
		case refusal == nil:
			return answer, s.verify(ctx)
		case !ambiguous(refusal) && !apierrors.IsInvalid(refusal):
			return nil, refusal
		}
		// A test has failed, or the object would not be valid, which comes out when it is as it was (T-17).
		now, err := reread(ctx, s.client, s.t, s.ref, refusal)
		switch {
		case err != nil:
			return nil, err
		case apierrors.IsNotFound(refusal), now.ResourceVersion == s.resourceVersion:
			return nil, refusal
		}
		s.resourceVersion = now.ResourceVersion
	}
	return nil, changedTooOften(s.ref, "patched")
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
