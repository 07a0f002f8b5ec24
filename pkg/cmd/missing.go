package cmd

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// mostHints is for how many objects that are not there a near name is looked for. Nobody reads more.
const mostHints = 10

// explainAll explains each of the objects, side by side and in their order.
func (r *treeRequest) explainAll(ctx context.Context, g *graph.Graph, objects []object) []error {
	errs := make([]error, len(objects))
	var group errgroup.Group
	group.SetLimit(r.client.Concurrency())
	for i, o := range objects {
		group.Go(func() error {
			errs[i] = r.explain(ctx, g, o, i < mostHints)
			return nil
		})
	}
	_ = group.Wait() // each error is in its place
	return errs
}

// explainMissing asks the server for an object that was not listed, so that the error is the server's own word: not found, or
// forbidden. If the object is there after all, its type cannot be listed.
func (r *treeRequest) explainMissing(ctx context.Context, g *graph.Graph, o object) error {
	return r.explain(ctx, g, o, true)
}

func (r *treeRequest) explain(ctx context.Context, g *graph.Graph, o object, hint bool) error {
	now, err := r.client.Get(ctx, o.Type, o.namespace, o.name)
	switch {
	case err == nil && o.uid != "" && now.UID != o.uid:
		return errAnother
	case err == nil && !o.Deletable():
		return fmt.Errorf("%s %q cannot be shown: the server does not offer to list, watch and delete %s, so nothing collects them",
			o.Resource.Resource, o.name, o.Resource.Resource)
	case err == nil:
		return fmt.Errorf("%s %q exists and was not among the objects listed: it was created just now, or its type may not be listed; try again",
			o.Resource.Resource, o.name)
	case hint && apierrors.IsNotFound(err):
		return withHint(err, r.nearName(g, o))
	}
	return err
}

// unseen is an error if a type that was asked for could not be listed: that none of its objects are shown would look as if there were none.
func (r *treeRequest) unseen(gaps []v1alpha1.Gap) error {
	for _, t := range r.roots.types {
		for _, gap := range gaps {
			if gap.Resource == t.Resource && gap.Group == t.Group {
				return fmt.Errorf("%s could not be listed: %s", typeName(gap), gap.Message)
			}
		}
	}
	return nil
}

// nearName suggests an object of the same type and namespace with a similar name.
func (r *treeRequest) nearName(g *graph.Graph, o object) string {
	near := newSuggestions(o.name)
	for id := range g.OfType(o.Group, o.Resource.Resource, o.namespace) {
		near.consider(g.Name(id))
	}
	return near.hint()
}
