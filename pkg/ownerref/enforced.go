package ownerref

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Enforcement is a right that the admission plugin OwnerReferencesPermissionEnforcement asks for (API-037): to update the finalizers of an owner for a reference that blocks
// it, and to delete an object for a change of its references. Whether a server has the plugin cannot be asked.
type Enforcement struct {
	cluster.Access
	// Try sends a write for which the plugin asks for the right, as a dry run.
	Try func(context.Context) error
}

// MissingRight is a right that the user does not have.
type MissingRight struct {
	cluster.Access
	// Reason is what the authorizer says, often nothing.
	Reason string
}

// Enforced are those of some rights that the plugin is seen to ask for and the user does not have, in their order, each once: where a review denies one, the dry run
// tells. A dry run that fails for another reason says nothing. It writes nothing.
func Enforced(ctx context.Context, client *cluster.Client, all []Enforcement) []MissingRight {
	accesses := make([]cluster.Access, len(all))
	for i, e := range all {
		accesses[i] = e.Access
	}
	reviews := client.Reviews().Ask(ctx, accesses)
	refused := make([]bool, len(all))
	asked := map[cluster.Access]bool{}
	var group errgroup.Group
	group.SetLimit(client.Concurrency())
	for i, e := range all {
		if reviews[i].Permission != cluster.Denied || asked[e.Access] {
			continue
		}
		asked[e.Access] = true
		group.Go(func() error {
			refused[i] = isEnforced(e.Try(ctx))
			return nil
		})
	}
	_ = group.Wait() // each answer is in its place
	var missing []MissingRight
	for i, e := range all {
		if refused[i] {
			missing = append(missing, MissingRight{e.Access, reviews[i].Reason})
		}
	}
	return missing
}

// isEnforced says whether an error is the plugin's.
func isEnforced(err error) bool {
	return apierrors.IsForbidden(err) && (strings.Contains(err.Error(), "blockOwnerDeletion") || strings.Contains(err.Error(), "ownerRef"))
}
