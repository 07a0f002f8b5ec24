package testcluster

import (
	"context"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"
)

// Allow lets a user do something with some resources in a namespace, by a Role that is made for it,
// and returns when the authorizer knows. Resources are written as kubectl writes them, such as
// configmaps or deployments.apps. With names it is allowed on objects of these names alone.
func (c *Cluster) Allow(t testing.TB, namespace, user string, verbs, resources []string, names ...string) {
	t.Helper()
	about := metav1.ObjectMeta{Namespace: namespace,
		Name: strings.Join(append(append(append([]string{user}, verbs...), resources...), names...), "-")}
	role := rbacv1.Role{TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role"},
		ObjectMeta: about}
	var reviews []authorizationv1.ResourceAttributes
	for _, resource := range resources {
		found, err := c.requests.cached.ResourceFor(schema.ParseGroupResource(resource).WithVersion(""))
		if err != nil {
			t.Fatal(err)
		}
		role.Rules = append(role.Rules, rbacv1.PolicyRule{Verbs: verbs, APIGroups: []string{found.Group},
			Resources: []string{found.Resource}, ResourceNames: names})
		for _, verb := range verbs {
			review := authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: found.Group,
				Resource: found.Resource}
			if len(names) == 0 {
				reviews = append(reviews, review)
			}
			for _, review.Name = range names {
				reviews = append(reviews, review)
			}
		}
	}
	binding := rbacv1.RoleBinding{TypeMeta: role.TypeMeta, ObjectMeta: about,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: about.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}}}
	binding.Kind = "RoleBinding"
	for _, object := range []any{role, binding} {
		text, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		c.Apply(t, string(text))
	}
	for _, review := range reviews {
		c.UntilAllowed(t, user, review)
	}
}

// UntilAllowed waits until the authorizer lets a user do something.
func (c *Cluster) UntilAllowed(t testing.TB, user string, what authorizationv1.ResourceAttributes) {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	Eventually(t, user+" to be allowed to "+what.Verb+" "+what.Resource+" "+what.Name,
		func(ctx context.Context) (bool, error) {
			review := authorizationv1.SubjectAccessReview{
				Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &what}}
			answer, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &review, metav1.CreateOptions{})
			return err == nil && answer.Status.Allowed, err
		})
}
