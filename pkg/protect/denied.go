package protect

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// denies says whether an error is the denial of a policy, which the server names in it, or of a
// namespace that nobody can delete (apiserver, pkg/admission/plugin/namespace/lifecycle).
func denies(err error, policy string) bool {
	if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
		return false
	}
	return strings.Contains(err.Error(), "ValidatingAdmissionPolicy '"+policy+"'") || immortal(err)
}

// immortal says whether an error is that of a namespace that nobody can delete.
func immortal(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "this namespace may not be deleted")
}
