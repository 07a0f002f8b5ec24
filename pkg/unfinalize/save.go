package unfinalize

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Save writes an archive of the objects that a plan is about to change; head is the plan as it is printed. With an error there is no file: a refusal if an
// object cannot be read, and otherwise what is wrong with the file.
func Save(ctx context.Context, client *cluster.Client, p *Planned, file string, head *v1alpha1.Plan) (*archive.Saved, error) {
	saved, err := archive.Save(ctx, client, file, p.Changed(), head)
	var unread *cluster.UnreadError
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &unread):
		return nil, answer.Refuse(answer.WithHint(fmt.Errorf("nothing was removed: the archive would be incomplete: %w", err), "omit --archive to remove finalizers without a copy"))
	case err != nil:
		return nil, fmt.Errorf("nothing was removed: writing the archive: %w", err)
	}
	return saved, nil
}
