package cluster

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Match is an object that matched when the server was asked.
type Match struct{ Namespace, Name, UID, ResourceVersion string }

// ListMatching lists the objects of a type that match, in a namespace or everywhere, in the
// server's order. It reads metadata alone. The error is the server's. A list that expires before
// its end is begun again, because pages of different snapshots do not make one list.
func (c *Client) ListMatching(ctx context.Context, t graph.Type, namespace string, s Selection) ([]Match, error) {
	for restarts := 0; ; restarts++ {
		matches, err := c.listMatchingOnce(ctx, t, namespace, s)
		if err == nil || !apierrors.IsResourceExpired(err) || restarts == maxRestarts {
			return matches, err
		}
	}
}

func (c *Client) listMatchingOnce(ctx context.Context, t graph.Type, namespace string, s Selection) ([]Match, error) {
	var matches []Match
	p := page{path: resourcePath(t.Group, t.Version, t.Resource, namespace), restrict: s}
	if _, err := c.readAll(ctx, p, func(o *graph.Object) {
		matches = append(matches, Match{o.Namespace, o.Name, o.UID, o.ResourceVersion})
	}); err != nil {
		return nil, err
	}
	return matches, nil
}
