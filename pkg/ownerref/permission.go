package ownerref

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// forbidden is the refusal of a write for which a right is missing.
func forbidden(object graph.Ref, access cluster.Access, reason string) error {
	because := mayNot(access)
	if reason != "" {
		because += ": " + reason
	}
	return answer.Refuse(answer.WithHint(fmt.Errorf("%s was not changed: %w", object.Quoted(), errors.New(because)), "ask for the right"))
}

// enforcedOn is the refusal of a change of an object's references for which the server is seen to ask for rights that are missing; nil if it is not.
func enforcedOn(ctx context.Context, client *cluster.Client, object graph.Ref, rights []Enforcement) error {
	if missing := Enforced(ctx, client, rights); len(missing) > 0 {
		return forbidden(object, missing[0].Access, cmp.Or(missing[0].Reason, "the server requires it for a change of owner references"))
	}
	return context.Cause(ctx)
}

// deletion is the right to delete an object.
func deletion(o selection.Object) cluster.Access {
	return cluster.Access{Verb: "delete", Type: o.Type, Namespace: o.Namespace, Name: o.Name}
}

// mayNot says which right is missing: you may not patch configmaps in namespace "shop".
func mayNot(a cluster.Access) string {
	resource := graph.Ref{APIVersion: a.Type.APIVersion(), Resource: a.Type.Resource}.QualifiedResource()
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	if a.Namespace == "" {
		return fmt.Sprintf("you may not %s %s", a.Verb, resource)
	}
	return fmt.Sprintf("you may not %s %s in namespace %q", a.Verb, resource, a.Namespace)
}
