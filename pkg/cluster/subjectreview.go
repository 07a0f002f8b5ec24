package cluster

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// ServiceAccount names one.
type ServiceAccount struct{ Namespace, Name string }

// User is the name under which it authenticates.
func (s ServiceAccount) User() string {
	return "system:serviceaccount:" + s.Namespace + ":" + s.Name
}

type reviewKey struct {
	account ServiceAccount
	access  Access
}

// ReviewOf asks the server what a ServiceAccount may do, with SubjectAccessReviews: one for any
// object of the type, and only where that is denied one for the name. All authorizers of the server
// are asked. The error is that of a user who may not ask, or of a server that does not serve
// reviews.
func (r *Reader) ReviewOf(ctx context.Context, account ServiceAccount, a Access) (Review, error) {
	broad := a
	broad.Name = ""
	review, err := r.reviewOnce(ctx, reviewKey{account, broad})
	if err != nil || review.Permission != Denied || a.Name == "" {
		return review, err
	}
	return r.reviewOnce(ctx, reviewKey{account, a})
}

func (r *Reader) reviewOnce(ctx context.Context, key reviewKey) (Review, error) {
	return r.reviews.once(ctx, key, func() (Review, error) {
		of := authorizationv1.SubjectAccessReviewSpec{User: key.account.User(),
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + key.account.Namespace,
				"system:authenticated"}}
		review, err := r.client.sendReview(ctx, "SubjectAccessReview", "subjectaccessreviews", of, key.access)
		if isNotSaved(err) { // a dump; a cluster says itself whom it does not answer
			r.note(ctx, graph.Type{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}, "", err)
		}
		return review, err
	})
}
