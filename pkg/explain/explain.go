// Package explain says what is known of finalizers, and which of them are present in a cluster.
package explain

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Question says of which finalizers something is to be explained.
type Question struct {
	// Known is what is known of finalizers.
	Known *finalizer.Registry
	// Names are finalizers; none mean all.
	Names []string
	// Component, if not empty, restricts them to those that a program of that name removes; part of
	// its name is enough.
	Component string
}

// Known says what is known of the finalizers. It asks no server. The error names those of which
// nothing is known; what is known of the others comes with it.
func Known(q Question) (*v1alpha1.Explanation, error) {
	found, err := q.find()
	if len(found) == 0 && err != nil {
		return nil, err
	}
	return &v1alpha1.Explanation{TypeMeta: v1alpha1.TypeMeta("Explanation"), Finalizers: found, Complete: true,
		Gaps: []v1alpha1.Gap{}}, err
}

// Present lists what is in the scope of a query and says which of the finalizers are there, on how
// many objects.
func Present(ctx context.Context, query *selection.Query, q Question) (*v1alpha1.Explanation, error) {
	if err := q.checkComponent(); err != nil {
		return nil, err
	}
	listed, err := query.List(ctx)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(present(listed.Graph, q.Known), func(e v1alpha1.ExplainedFinalizer) bool {
		return len(q.Names) > 0 && !slices.Contains(q.Names, e.Name) || q.Component != "" &&
			!q.isOf(finalizer.Known{Component: e.Component, Actor: e.Actor})
	})
	return &v1alpha1.Explanation{
		TypeMeta: v1alpha1.TypeMeta("Explanation"), Finalizers: found, Complete: len(listed.Gaps) == 0,
		Gaps: append([]v1alpha1.Gap{}, listed.Gaps...),
	}, nil
}
