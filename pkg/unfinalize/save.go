package unfinalize

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Save writes an archive of the objects that a plan is about to change; head is the plan as it is
// printed. With an error there is no file: a refusal if an object cannot be read, and otherwise
// what is wrong with the file. Perform leaves alone then what has changed since, in anything but
// its status and its finalizers.
func Save(ctx context.Context, client *cluster.Client, p *Planned, file string, head *v1alpha1.Plan) (*archive.Saved,
	error) {
	saved, err := archive.Save(ctx, client, file, p.changed(), head)
	if err != nil {
		return nil, archive.NotSaved(ctx, err, "nothing was removed")
	}
	p.saved = saved
	return saved, nil
}
