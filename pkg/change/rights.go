package change

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// AskForPermission is the hint of what is refused for want of a permission.
const AskForPermission = "ask an administrator for this permission"

// Denied asks the server for rights, and returns those that it denies, with their places. What it
// does not say is not denied.
func Denied(ctx context.Context, client *cluster.Client, rights []cluster.Access) iter.Seq2[int, cluster.MissingRight] {
	return func(yield func(int, cluster.MissingRight) bool) {
		for i, review := range client.Reviews().Ask(ctx, rights) {
			if review.Permission == cluster.Denied && !yield(i, cluster.MissingRight{Access: rights[i], Reason: review.Reason}) {
				return
			}
		}
	}
}

// Permitted refuses to change the references of an object if the right to patch it is denied, or
// one of those that the server is seen to ask for besides.
func Permitted(ctx context.Context, client *cluster.Client, object graph.Ref, patch cluster.Access,
	besides ...Enforcement) error {
	if missing, denied := maps.Collect(Denied(ctx, client, []cluster.Access{patch}))[0]; denied {
		return forbidden(missing, object)
	}
	if enforced := Enforced(ctx, client, besides); len(enforced) > 0 {
		missing := enforced[0]
		missing.Reason = cmp.Or(missing.Reason, "the server requires it for a change of owner references")
		return forbidden(missing, object)
	}
	return context.Cause(ctx)
}

func forbidden(missing cluster.MissingRight, object graph.Ref) error {
	return answer.Refuse(answer.WithHint(fmt.Errorf("%s was not changed: %w", object.Quoted(), missing), AskForPermission))
}

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
func Enforced(ctx context.Context, client *cluster.Client, all []Enforcement) []cluster.MissingRight {
	accesses := make([]cluster.Access, len(all))
	for i, e := range all {
		accesses[i] = e.Access
	}
	denied := map[int]cluster.MissingRight{}
	asked := map[cluster.Access]bool{}
	for i, d := range Denied(ctx, client, accesses) {
		if !asked[d.Access] {
			asked[d.Access], denied[i] = true, d
		}
	}
	tried := slices.Sorted(maps.Keys(denied))
	cluster.Each(client, tried, func(n, i int) {
		if !isEnforced(all[i].Try(ctx)) {
			tried[n] = -1
		}
	})
	var missing []cluster.MissingRight
	for _, i := range tried {
		if i >= 0 {
			missing = append(missing, denied[i])
		}
	}
	return missing
}

// isEnforced tells the errors of the plugin.
func isEnforced(err error) bool {
	return apierrors.IsForbidden(err) &&
		(strings.Contains(err.Error(), "blockOwnerDeletion") || strings.Contains(err.Error(), "ownerRef"))
}
