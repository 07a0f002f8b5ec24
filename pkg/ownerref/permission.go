package ownerref

import (
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// forbidden is the refusal of a write for which a right is missing.
func forbidden(object graph.Ref, access cluster.Access, review cluster.Review) error {
	because := mayNot(access)
	if review.Reason != "" {
		because += ": " + review.Reason
	}
	return answer.Refuse(answer.WithHint(fmt.Errorf("%s was not changed: %w", object.Quoted(), errors.New(because)), "ask for the right"))
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
