package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// reasonOf says what kind of gap an error of a list makes. It is false for an error that is no
// property of the type but would meet every request: bad credentials, a server that cannot be
// reached, a cancelled context.
func reasonOf(ctx context.Context, err error) (v1alpha1.GapReason, bool) {
	var status apierrors.APIStatus
	var dial *net.OpError
	var urlErr *url.Error
	switch {
	case ctx.Err() != nil, apierrors.IsUnauthorized(err):
		return "", false
	case apierrors.IsForbidden(err):
		return v1alpha1.GapForbidden, true
	case isNotSaved(err):
		return v1alpha1.GapNotSaved, true
	case apierrors.IsResourceExpired(err), apierrors.IsTooManyRequests(err):
		return v1alpha1.GapUnavailable, true
	case errors.As(err, &status):
		if status.Status().Code >= http.StatusInternalServerError {
			return v1alpha1.GapUnavailable, true
		}
		return v1alpha1.GapFailed, true
	case isSilent(err), errors.As(err, &urlErr) && urlErr.Timeout():
		return v1alpha1.GapUnavailable, true
	case errors.As(err, &dial) && dial.Op == "dial":
		return "", false
	case errors.As(err, &urlErr), errors.Is(err, errTruncated), errors.Is(err, errInterrupted),
		errors.Is(err, errUnanswered):
		return v1alpha1.GapUnavailable, true
	}
	return v1alpha1.GapFailed, true
}

// isNotSaved returns whether an answer is that of a dump, which does not know what a cluster would.
func isNotSaved(err error) bool {
	return apierrors.ReasonForError(err) == metav1.StatusReason(v1alpha1.GapNotSaved)
}

// GapOf returns the gap that an error of a read makes, of a type in a namespace. It is false for an
// error that would meet every request, such as a context that ended.
func GapOf(ctx context.Context, t graph.Type, namespace string, err error) (v1alpha1.Gap, bool) {
	gap, fatal := newGap(ctx, t, namespace, err)
	return gap, fatal == nil
}

// newGap returns the gap that an error makes, or an error that ends the listing.
func newGap(ctx context.Context, t graph.Type, namespace string, err error) (v1alpha1.Gap, error) {
	reason, ok := reasonOf(ctx, err)
	if !ok {
		if ctx.Err() != nil {
			return v1alpha1.Gap{}, context.Cause(ctx)
		}
		return v1alpha1.Gap{}, err
	}
	return v1alpha1.Gap{Resource: t.Resource, Group: t.Group, Namespace: namespace, Reason: reason,
		Message: message(err)}, nil
}

// message is the error without the address, which every gap would repeat.
func message(err error) string {
	var silent *silentError
	if errors.As(err, &silent) {
		return silent.Error()
	}
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		if urlErr.Timeout() {
			return "no answer within the request timeout"
		}
		return fmt.Sprintf("the connection broke: %v", urlErr.Err)
	}
	return err.Error() + unreadable(err)
}

// unreadable adds which objects the server could not read from its storage, which the message alone
// does not say (API-046).
func unreadable(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Reason != metav1.StatusReasonStoreReadError ||
		status.Status().Details == nil {
		return ""
	}
	s := ""
	for _, c := range status.Status().Details.Causes {
		if c.Field != "" {
			s += fmt.Sprintf("; %s: %s", c.Field, c.Message)
		}
	}
	return s
}
