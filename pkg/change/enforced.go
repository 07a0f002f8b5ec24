package change

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Enforcement is a right that the admission plugin OwnerReferencesPermissionEnforcement asks for
// (API-037): to update the finalizers of an owner for a reference that blocks it, and to delete an
// object for a change of its references. Whether a server has the plugin cannot be asked.
type Enforcement struct {
	cluster.Access
	// Try sends a write for which the plugin asks for the right, as a dry run.
	Try func(context.Context) error
}

// Enforced are those of some rights that the plugin is seen to ask for and the user does not have,
// in their order, each once: where a review denies one, the dry run tells. A dry run that fails for
// another reason says nothing. It writes nothing.
func Enforced(ctx context.Context, client *cluster.Client, all []Enforcement) []MissingRight {
	accesses := make([]cluster.Access, len(all))
	for i, e := range all {
		accesses[i] = e.Access
	}
	refused := make([]*MissingRight, len(all))
	asked := map[cluster.Access]bool{}
	var group errgroup.Group
	group.SetLimit(client.Concurrency())
	for i, denied := range Denied(ctx, client, accesses) {
		if asked[denied.Access] {
			continue
		}
		asked[denied.Access] = true
		group.Go(func() error {
			if isEnforced(all[i].Try(ctx)) {
				refused[i] = &denied
			}
			return nil
		})
	}
	_ = group.Wait() // each answer is in its place
	var missing []MissingRight
	for _, m := range refused {
		if m != nil {
			missing = append(missing, *m)
		}
	}
	return missing
}

// isEnforced tells the errors of the plugin.
func isEnforced(err error) bool {
	return apierrors.IsForbidden(err) &&
		(strings.Contains(err.Error(), "blockOwnerDeletion") || strings.Contains(err.Error(), "ownerRef"))
}
