package ownerref

import (
	"cmp"
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// right is the right to do something to an object.
func right(verb string, o selection.Object) cluster.Access {
	return cluster.Access{Verb: verb, Type: o.Type, Namespace: o.Namespace, Name: o.Name}
}

// enforcedOn is the refusal of a change of an object's references for which the server is seen to
// ask for rights that are missing; nil if it is not.
func enforcedOn(ctx context.Context, client *cluster.Client, object graph.Ref, rights []change.Enforcement) error {
	if missing := change.Enforced(ctx, client, rights); len(missing) > 0 {
		missing[0].Reason = cmp.Or(missing[0].Reason, "the server requires it for a change of owner references")
		return missing[0].Forbidden(object)
	}
	return context.Cause(ctx)
}
