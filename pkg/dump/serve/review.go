package serve

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/dump"
)

// reviewPath is where a server is asked what somebody may do.
const reviewPath = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

// mostReview bounds a review, in bytes.
const mostReview = 1 << 20

// serviceAccount begins the name under which a ServiceAccount authenticates.
const serviceAccount = "system:serviceaccount:"

// review answers what a ServiceAccount may do by the roles in the dump, as RBAC does. Of other users
// a dump does not know who else decides. That something is not allowed is known only where all roles
// and bindings are.
func (s *Server) review(r *http.Request) answer {
	var review authorizationv1.SubjectAccessReview
	raw, err := io.ReadAll(io.LimitReader(r.Body, mostReview))
	if err != nil || json.Unmarshal(raw, &review) != nil || review.Spec.ResourceAttributes == nil ||
		!strings.HasPrefix(review.Spec.User, serviceAccount) {
		return unknown("only a cluster says what a user may do")
	}
	allowed, known := s.allows(review.Spec)
	if !allowed && !known {
		return unknown("not all roles and bindings were saved, which say what a controller may do")
	}
	review.TypeMeta = metav1.TypeMeta{Kind: "SubjectAccessReview", APIVersion: authorizationv1.SchemeGroupVersion.String()}
	review.Status.Allowed = allowed
	return found(review)
}

// allows returns whether RBAC allows an access, and whether that it does not would be known.
func (s *Server) allows(spec authorizationv1.SubjectAccessReviewSpec) (allowed, known bool) {
	namespace := spec.ResourceAttributes.Namespace
	bindings, all := s.rbac("clusterrolebindings", "")
	roles, allRoles := s.rbac("clusterroles", "")
	known = all && allRoles
	if namespace != "" {
		for _, name := range []string{"rolebindings", "roles"} {
			local, all := s.rbac(name, namespace)
			known = known && all
			if name == "rolebindings" {
				bindings = slices.Concat(bindings, local)
			} else {
				roles = slices.Concat(roles, local)
			}
		}
	}
	for _, o := range bindings {
		var binding rbacv1.RoleBinding // of which a ClusterRoleBinding has the same fields
		if json.Unmarshal(o.JSON, &binding) != nil {
			known = false
			continue
		}
		if !slices.ContainsFunc(binding.Subjects, func(subject rbacv1.Subject) bool { return isSubject(subject, spec) }) {
			continue
		}
		for _, role := range roles {
			if role.Name != binding.RoleRef.Name || (role.Namespace == "") != (binding.RoleRef.Kind == "ClusterRole") {
				continue
			}
			var rules rbacv1.Role
			if json.Unmarshal(role.JSON, &rules) != nil {
				known = false
				continue
			}
			if slices.ContainsFunc(rules.Rules,
				func(rule rbacv1.PolicyRule) bool { return permits(rule, spec.ResourceAttributes) }) {
				return true, true
			}
		}
	}
	return false, known
}

// rbac returns the roles or bindings of a type, and whether the dump has all of them.
func (s *Server) rbac(resource, namespace string) ([]*dump.Object, bool) {
	t, ok := s.dump.Find(rbacv1.GroupName, resource)
	if !ok {
		return nil, false
	}
	return t.In(namespace), t.Covers(namespace)
}

// isSubject returns whether a subject of a binding is the user of a review, or a group of his.
func isSubject(subject rbacv1.Subject, spec authorizationv1.SubjectAccessReviewSpec) bool {
	switch subject.Kind {
	case rbacv1.UserKind:
		return subject.Name == spec.User
	case rbacv1.GroupKind:
		return slices.Contains(spec.Groups, subject.Name)
	case rbacv1.ServiceAccountKind:
		return serviceAccount+subject.Namespace+":"+subject.Name == spec.User
	}
	return false
}

// permits returns whether a rule allows an access (rbacv1.PolicyRule).
func permits(rule rbacv1.PolicyRule, a *authorizationv1.ResourceAttributes) bool {
	has := func(list []string, words ...string) bool {
		return slices.ContainsFunc(list, func(word string) bool { return word == "*" || slices.Contains(words, word) })
	}
	resources := []string{a.Resource}
	if a.Subresource != "" {
		resources = []string{a.Resource + "/" + a.Subresource, "*/" + a.Subresource}
	}
	return has(rule.Verbs, a.Verb) && has(rule.APIGroups, a.Group) && has(rule.Resources, resources...) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.Name))
}
