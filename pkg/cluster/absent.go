package cluster

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// IsAbsent says whether an error of Get proves that the object does not exist: a Status with the
// reason NotFound that names the object. A 404 that names nothing comes from a path that is not
// served, a proxy, or a server that has just started, and proves nothing (API-054, T-01).
func IsAbsent(err error, t graph.Type, name string) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Name == name && details.Group == t.Group && details.Kind == t.Resource
}
