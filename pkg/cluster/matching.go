package cluster

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Selectors are what a list is restricted to by the server. An empty one matches everything.
type Selectors struct{ Labels, Fields string }

// Match is an object that matched when the server was asked.
type Match struct{ Namespace, Name, UID, ResourceVersion string }

// ListMatching lists the objects of a type that match, in a namespace or everywhere, in the
// server's order. It reads metadata alone. The error is the server's. A list that expires before
// its end is begun again, because pages of different snapshots do not make one list.
func (c *Client) ListMatching(ctx context.Context, t graph.Type, namespace string, s Selectors) ([]Match, error) {
	for restarts := 0; ; restarts++ {
		matches, err := c.listMatchingOnce(ctx, t, namespace, s)
		if err == nil || !apierrors.IsResourceExpired(err) || restarts == maxRestarts {
			return matches, err
		}
	}
}

func (c *Client) listMatchingOnce(ctx context.Context, t graph.Type, namespace string, s Selectors) ([]Match, error) {
	var matches []Match
	p := page{path: resourcePath(t.Group, t.Version, t.Resource, namespace), restrict: s}
	for {
		var meta listMeta
		err := c.read(ctx, p, func(m listMeta) { meta = m }, func(o *graph.Object) {
			matches = append(matches, Match{o.Namespace, o.Name, o.UID, o.ResourceVersion})
		})
		if err != nil {
			return nil, err
		}
		if meta.continueToken == "" {
			return matches, nil
		}
		p.continueToken = meta.continueToken
	}
}
