package selection

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/suggest"
)

// mostHints is for how many objects that are not there a near name is looked for. Nobody reads
// more.
const mostHints = 10

// ErrAnother says that another object has the name of one that was meant.
var ErrAnother = errors.New("another object has its name now")

// ExplainAll explains each of the objects, side by side and in their order.
func (q *Query) ExplainAll(ctx context.Context, g *graph.Graph, objects []Object) []error {
	errs := make([]error, len(objects))
	var group errgroup.Group
	group.SetLimit(q.Client.Concurrency())
	for i, o := range objects {
		group.Go(func() error {
			errs[i] = q.explain(ctx, g, o, i < mostHints)
			return nil
		})
	}
	_ = group.Wait() // each error is in its place
	return errs
}

// ExplainMissing asks the server for an object that was not listed, so that the error is the
// server's own word: not found, or forbidden. If the object is there after all, its type cannot be
// listed.
func (q *Query) ExplainMissing(ctx context.Context, g *graph.Graph, o Object) error {
	return q.explain(ctx, g, o, true)
}

func (q *Query) explain(ctx context.Context, g *graph.Graph, o Object, hint bool) error {
	now, err := q.Client.GetMeta(ctx, o.Type, o.Namespace, o.Name)
	switch {
	case err == nil && o.UID != "" && now.UID != o.UID:
		return ErrAnother
	case err == nil && !o.Deletable():
		return fmt.Errorf(
			"%s %q cannot be shown: the server does not offer to list, watch and delete %s, so nothing collects them",
			o.Resource.Resource, o.Name, o.Resource.Resource)
	case err == nil:
		return fmt.Errorf(
			"%s %q exists and was not among the objects listed: it was created just now, or its type may not be listed; try again",
			o.Resource.Resource, o.Name)
	case hint && apierrors.IsNotFound(err):
		return answer.WithHint(err, q.nearName(g, o))
	}
	return err
}

// Unlisted is an error if a type that was asked for could not be listed: that none of its objects
// are shown would look as if there were none.
func (q *Query) Unlisted(gaps []v1alpha1.Gap) error {
	for _, t := range q.Types {
		for _, gap := range gaps {
			if gap.Resource == t.Resource && gap.Group == t.Group {
				return fmt.Errorf("%s could not be listed: %s", gap.TypeName(), gap.Message)
			}
		}
	}
	return nil
}

// nearName suggests an object of the same type and namespace with a similar name.
func (q *Query) nearName(g *graph.Graph, o Object) string {
	near := suggest.New(o.Name)
	for id := range g.OfType(o.Group, o.Resource.Resource, o.Namespace) {
		near.Consider(g.Name(id))
	}
	return near.Hint()
}
