package act

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// maxTries is how often a write is sent to an object that changes all the time in what the write does not rest on.
const maxTries = 10

// ambiguous says whether an error can mean that the object is gone, was replaced or was changed. A webhook can answer 409 or 404 as well, and a proxy can
// answer 404, so neither proves anything: the object has to be read again.
func ambiguous(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// reread reads an object after a write to it was refused, and returns it as it is now. Without an object the error says why: errGone and errReplaced are
// proven, by an answer that is about the object (RO-004); anything else is the refusal, in the server's words, with what the read met.
func reread(ctx context.Context, client *cluster.Client, t graph.Type, ref graph.Ref, refusal error) (*graph.Object, error) {
	if cluster.IsAbsent(refusal, t, ref.Name) {
		return nil, errGone
	}
	now, err := client.GetMeta(ctx, t, ref.Namespace, ref.Name)
	switch {
	case err == nil && now.UID == ref.UID:
		return now, nil
	case err == nil && now.UID != "":
		return nil, errReplaced
	case cluster.IsAbsent(err, t, ref.Name):
		return nil, errGone
	case err == nil:
		err = cluster.ErrNoUID
	}
	return nil, fmt.Errorf("%w; it could not be read again: %w", naming(ref, refusal), err)
}

// naming names the object in an error that does not: a webhook's refusal, or an answer of something that is no API server.
func naming(ref graph.Ref, err error) error {
	var status apierrors.APIStatus
	var connection *url.Error
	switch {
	case errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name == ref.Name, errors.As(err, &connection):
		return err
	}
	return fmt.Errorf("%s %q: %w", ref.Resource, ref.Name, err)
}

// changedTooOften is the error of a write that met another version of the object each time.
func changedTooOften(ref graph.Ref, what string) error {
	return fmt.Errorf("%s %q was not %s: it was changed %d times meanwhile; try again", ref.Resource, ref.Name, what, maxTries)
}
