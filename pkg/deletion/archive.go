package deletion

import (
	"context"
	"errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Archive is a file in which all that a plan deletes or changes is saved before the first delete.
// It must not exist.
type Archive struct {
	File string
	// Head returns the plan as it is printed, which the file begins with.
	Head func(*Planned) *v1alpha1.Plan
}

// save writes the archive of a plan that is about to be carried out; nil without one. With an error
// nothing is deleted and there is no file. It is a refusal if an object cannot be read, and none if
// the file cannot be written.
func (p *Planned) save(ctx context.Context, a *Archive) (*archive.Saved, error) {
	if a == nil {
		return nil, nil
	}
	saved, err := archive.Save(ctx, p.planner.client, a.File, archive.OfPlan(p.Plan), a.Head(p))
	if err != nil {
		return nil, archive.NotSaved(ctx, err, "nothing was deleted")
	}
	return saved, nil
}

// hintArchive is what to do about an object that cannot be deleted because the archive does not
// have it as it is.
const hintArchive = "run the command again with another archive file"

// covered is act's Archived; nil without an archive.
func covered(client *cluster.Client, saved *archive.Saved) func(context.Context, graph.Type, graph.Ref, string) error {
	if saved == nil {
		return nil
	}
	return func(ctx context.Context, t graph.Type, ref graph.Ref, resourceVersion string) error {
		err := saved.Covers(ctx, client, t, ref, resourceVersion)
		if errors.Is(err, archive.ErrChanged) || errors.Is(err, archive.ErrMissing) {
			return answer.Refuse(answer.WithHint(err, hintArchive))
		}
		return err
	}
}
