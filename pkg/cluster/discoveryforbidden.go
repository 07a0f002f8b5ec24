package cluster

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
)

// forbiddenDiscovery is a 403 of discovery. client-go does not read the Status in such an answer
// and leaves "unknown" for a message.
type forbiddenDiscovery struct{ err error }

// Error names the requests that discovery sends; which of them was refused is lost.
func (e *forbiddenDiscovery) Error() string { return "GET /api or GET /apis is forbidden" }

// Unwrap returns what is left of the server's answer.
func (e *forbiddenDiscovery) Unwrap() error { return e.err }

// explainForbidden says of a 403 of discovery what is forbidden and what to ask for. Any other
// error stays as it is.
func explainForbidden(err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	forbidden := error(&forbiddenDiscovery{err})
	if message := err.Error(); message != "unknown" { // a proxy's, as text
		forbidden = fmt.Errorf("%w: %s", forbidden, message)
	}
	return answer.WithHint(forbidden,
		"ask an administrator of the cluster to bind the ClusterRole system:discovery to you")
}
