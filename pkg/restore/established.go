package restore

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// A definition is served some moments after it was created. Nothing can be watched that says when:
// the condition Established comes before the server has begun to serve the type everywhere.
const (
	servedEvery  = 200 * time.Millisecond
	servedWithin = time.Minute
)

// awaitDefinitions waits until the types of definitions that were created are served.
func (r *performer) awaitDefinitions(ctx context.Context, definitions []*Step) error {
	for _, s := range definitions {
		if r.uidOf(ctx, s.item) == "" {
			continue // what needs it fails
		}
		var last error
		err := wait.PollUntilContextTimeout(ctx, servedEvery, servedWithin, true, func(ctx context.Context) (bool, error) {
			last = r.isServed(ctx, s)
			return last == nil, nil
		})
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s is not served after %s: %w; restore again when it is Established", s.Object.Name,
				servedWithin, last)
		}
	}
	return nil
}

// isServed returns why the types of a definition are not served yet; nil if they are.
func (r *performer) isServed(ctx context.Context, s *Step) error {
	o, err := r.client.GetObject(ctx, s.Type, "", s.Object.Name)
	if err != nil {
		return err
	}
	status, _, _ := unstructured.NestedMap(o.Object, "status")
	if !isTrue(status, "Established") {
		return errors.New("it is not Established")
	}
	for _, t := range s.item.facts.definition {
		if err := r.isListed(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// isListed lists a type. That the user may not is an answer of a server that knows it.
func (r *performer) isListed(ctx context.Context, t graph.Type) error {
	_, err := r.client.ListNames(ctx, t, "")
	if apierrors.IsForbidden(err) {
		return nil
	}
	return err
}
