package cluster

import (
	"context"
	"fmt"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Access is something to do that needs a right: a verb on one object.
type Access struct {
	Verb string
	Type graph.Type
	// Subresource is empty for the object itself.
	Subresource     string
	Namespace, Name string
}

// AccessTo is something to do to an object of a type.
func AccessTo(verb, subresource string, t graph.Type, ref graph.Ref) Access {
	return Access{Verb: verb, Subresource: subresource, Type: t, Namespace: ref.Namespace, Name: ref.Name}
}

// MissingRight is a right that the user does not have.
type MissingRight struct {
	Access
	// Reason is what the authorizer says, often nothing.
	Reason string
}

// What names what the user may not do: patch configmaps in namespace "shop". A cluster-scoped
// object is named.
func (m MissingRight) What() string {
	what := m.Verb + " " + m.Type.Ref("", "", "").QualifiedResource()
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

// Permission is what is known of a right.
type Permission uint8

const (
	// Unknown means that nobody could or would say. It is not a denial; the server decides when it
	// is done.
	Unknown Permission = iota
	// Allowed means that the server would not refuse it for lack of permissions.
	Allowed
	// Denied means that the server would refuse it.
	Denied
)

// Review is the answer about an Access.
type Review struct {
	Permission Permission
	// Reason is what the authorizer says, often nothing.
	Reason string
}

// Reviews asks the server what the user may do and remembers the answers. It is safe for concurrent
// use.
type Reviews struct {
	client *Client
	asked  Asked[Access, Review]
	// silent is done when the log has said that the server does not answer.
	silent sync.Once
}

// Reviews returns Reviews that know nothing yet.
func (c *Client) Reviews() *Reviews { return &Reviews{client: c} }

// Permission is the answer about one access.
func (r *Reviews) Permission(ctx context.Context, a Access) Permission {
	return r.Ask(ctx, []Access{a})[0].Permission
}

// Ask answers for each Access, in their order. There is one SelfSubjectAccessReview for each verb,
// type and namespace, and only where that is denied one for each name: permissions are rarely given
// by name. A review that fails leaves what it was for Unknown: restricted servers do not serve
// reviews.
func (r *Reviews) Ask(ctx context.Context, accesses []Access) []Review {
	reviews := make([]Review, len(accesses))
	Each(r.client, accesses, func(i int, a Access) {
		review, err := broadly(a, func(a Access) (Review, error) {
			return r.asked.Once(ctx, a, func() (Review, error) {
				var nobody authorizationv1.SubjectAccessReviewSpec
				return r.client.sendReview(ctx, "SelfSubjectAccessReview", "selfsubjectaccessreviews", nobody, a)
			})
		})
		if err != nil {
			r.silent.Do(func() {
				klog.FromContext(
					ctx).V(1).Info("The server does not say what is allowed, so a write may be refused when it is sent", "verb",
					a.Verb, "resource", a.Type.Resource, "err", err)
			})
			return
		}
		reviews[i] = review
	})
	return reviews
}

// broadly asks for any object of a type, and only where that is denied for the one that is named.
func broadly(a Access, ask func(Access) (Review, error)) (Review, error) {
	broad := a
	broad.Name = ""
	review, err := ask(broad)
	if err != nil || review.Permission != Denied || a.Name == "" {
		return review, err
	}
	return ask(a)
}

// sendReview sends a review, which is a question although it is sent with POST: nothing is stored.
// A SelfSubjectAccessReview asks about nobody.
func (c *Client) sendReview(ctx context.Context, kind, resource string, about authorizationv1.SubjectAccessReviewSpec,
	a Access) (Review, error) {
	about.ResourceAttributes = &authorizationv1.ResourceAttributes{
		Namespace: a.Namespace, Verb: a.Verb, Group: a.Type.Group, Version: a.Type.Version, Resource: a.Type.Resource,
		Subresource: a.Subresource, Name: a.Name,
	}
	of := graph.Type{Group: authorizationv1.GroupName, Version: "v1", Resource: resource, Kind: kind}
	question := authorizationv1.SubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: of.APIVersion(), Kind: kind}, Spec: about,
	}
	var answer struct {
		Kind   string
		Status *authorizationv1.SubjectAccessReviewStatus
	}
	if err := c.post(ctx, of, "", question, &answer); err != nil {
		return Review{}, err
	}
	switch {
	case answer.Kind != kind || answer.Status == nil:
		return Review{}, fmt.Errorf("asking whether %s of %s is allowed: the answer is a %q", a.Verb, a.Type.Resource,
			answer.Kind)
	case answer.Status.Allowed:
		return Review{Permission: Allowed, Reason: answer.Status.Reason}, nil
	case answer.Status.EvaluationError != "": // an authorizer did not answer; it might have allowed it
		return Review{Reason: answer.Status.EvaluationError}, nil
	}
	return Review{Permission: Denied, Reason: answer.Status.Reason}, nil
}

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
	return broadly(a, func(a Access) (Review, error) {
		return r.reviews.Once(ctx, reviewKey{account, a}, func() (Review, error) {
			of := authorizationv1.SubjectAccessReviewSpec{User: account.User(),
				Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + account.Namespace,
					"system:authenticated"}}
			review, err := r.client.sendReview(ctx, "SubjectAccessReview", "subjectaccessreviews", of, a)
			if IsNotSaved(err) { // a dump; a cluster says itself whom it does not answer
				r.note(ctx, graph.Type{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}, "", err)
			}
			return review, err
		})
	})
}
