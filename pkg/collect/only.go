package collect

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// actsOn says whether the loop acts on an object for its own sake, and not only as a dependent of
// one that it acts on.
func (l *Loop) actsOn(uid string) bool { return l.opts.Only == nil || l.opts.Only[uid] }

// alongside does what is due to an object that the loop does not act on for its own sake: it
// removes the references to owners that have orphaned it meanwhile.
func (p *pass) alongside(ctx context.Context, id graph.ID) {
	if !p.gone(id) {
		p.removeLateOwnerRefs(ctx, id)
	}
}
