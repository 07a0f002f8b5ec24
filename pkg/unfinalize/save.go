package unfinalize

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Save writes an archive of the objects that a plan is about to change. With an error there is no
// file: a refusal if an object cannot be read, and otherwise what is wrong with the file. Perform
// leaves alone then what has changed since, in anything but its status and its finalizers.
func Save(ctx context.Context, client *cluster.Client, p *Planned, file string) (*archive.Saved, error) {
	saved, err := archive.Save(ctx, client, file, p.changed(), p.Allowed().Printed())
	if err != nil {
		return nil, archive.NotSaved(ctx, err, "nothing was removed")
	}
	p.saved = saved
	return saved, nil
}
