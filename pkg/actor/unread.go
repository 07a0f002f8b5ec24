package actor

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// GapClauses returns what cannot be listed, and why: a clause for each reason and namespace. What
// the user may not list is named without the message of RBAC.
func GapClauses(gaps ...v1alpha1.Gap) []string {
	type class struct {
		forbidden      bool
		where, message string
	}
	var order []class
	types := map[class][]string{}
	for _, gap := range gaps {
		c := class{forbidden: gap.Reason == v1alpha1.GapForbidden}
		if gap.Namespace != "" {
			c.where = " in " + gap.Namespace
		}
		if !c.forbidden {
			c.message = gap.Message
		}
		if types[c] == nil {
			order = append(order, c)
		}
		types[c] = append(types[c], gap.TypeName())
	}
	var all []string
	for _, c := range order {
		what := phrase.And(types[c]) + c.where
		if c.forbidden {
			all = append(all, "you may not list "+what)
			continue
		}
		all = append(all, what+" cannot be listed: "+c.message)
	}
	return all
}

// unlisted is the gap that an error of a list makes.
func unlisted(resource schema.GroupResource, namespace string, err error) v1alpha1.Gap {
	gap := v1alpha1.Gap{Resource: resource.Resource, Group: resource.Group, Namespace: namespace,
		Reason: v1alpha1.GapFailed, Message: message(err)}
	if apierrors.IsForbidden(err) {
		gap.Reason = v1alpha1.GapForbidden
	}
	return gap
}

// message returns what the server answered, without the request, which an error names before it. Of
// a missing permission it leaves out the user and the type, which each would repeat.
func message(err error) string {
	if apierrors.IsForbidden(err) {
		return "you have no permission"
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message != "" {
		return status.Status().Message
	}
	return err.Error()
}
