package protect

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// denies says whether an error is the denial of a policy, which the server names in it; of any if no
// name is given.
func denies(err error, policy string) bool {
	named := "ValidatingAdmissionPolicy '"
	if policy != "" {
		named += policy + "'"
	}
	return (apierrors.IsForbidden(err) || apierrors.IsInvalid(err)) && strings.Contains(err.Error(), named)
}
