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

// MissingRight is a right that the user does not have.
type MissingRight struct {
	cluster.Access
	// Reason is what the authorizer says, often nothing.
	Reason string
}

// What names what the user may not do: patch configmaps in namespace "shop". A cluster-scoped
// object is named.
func (m MissingRight) What() string {
	what := m.Verb + " " + graph.Ref{APIVersion: m.Type.APIVersion(), Resource: m.Type.Resource}.QualifiedResource()
	if m.Subresource != "" {
		what += "/" + m.Subresource
	}
	switch {
	case m.Namespace != "":
		return fmt.Sprintf("%s in namespace %q", what, m.Namespace)
	case m.Name != "":
		return fmt.Sprintf("%s %q", what, m.Name)
	}
	return what
}

// Error says which right is missing, and why if the authorizer does.
func (m MissingRight) Error() string {
	if m.Reason == "" {
		return "you may not " + m.What()
	}
	return "you may not " + m.What() + ": " + m.Reason
}

// Denied asks the server for rights, and returns those that it denies, with their places. What it
// does not say is not denied.
func Denied(ctx context.Context, client *cluster.Client, rights []cluster.Access) iter.Seq2[int, MissingRight] {
	return func(yield func(int, MissingRight) bool) {
		for i, review := range client.Reviews().Ask(ctx, rights) {
			if review.Permission == cluster.Denied && !yield(i, MissingRight{rights[i], review.Reason}) {
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
		return missing.forbidden(object)
	}
	if enforced := Enforced(ctx, client, besides); len(enforced) > 0 {
		missing := enforced[0]
		missing.Reason = cmp.Or(missing.Reason, "the server requires it for a change of owner references")
		return missing.forbidden(object)
	}
	return context.Cause(ctx)
}

func (m MissingRight) forbidden(object graph.Ref) error {
	return answer.Refuse(answer.WithHint(fmt.Errorf("%s was not changed: %w", object.Quoted(), m), AskForPermission))
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
func Enforced(ctx context.Context, client *cluster.Client, all []Enforcement) []MissingRight {
	accesses := make([]cluster.Access, len(all))
	for i, e := range all {
		accesses[i] = e.Access
	}
	denied := map[int]MissingRight{}
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
	var missing []MissingRight
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
