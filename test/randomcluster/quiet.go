package randomcluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// ErrRestless is of a random cluster in which the collector has left something undone for long,
// such as a dependent that was created when its owner was waiting already (GC-025): nothing can be
// foretold of it.
var ErrRestless = errors.New("the collector does not come to rest")

// Quiet waits until the collector has nothing left to do by its own rules, and has had time to do
// what it would do by others. Todo says what is left to do by its own.
func (w *World) Quiet(ctx context.Context, namespace string, todo func(*graph.Graph) []string) (*graph.Graph, error) {
	const long = time.Minute
	for began := time.Now(); ; {
		if err := w.Canary(ctx, namespace); err != nil {
			return nil, err
		}
		g, err := w.List(ctx, namespace)
		if err != nil {
			return nil, err
		}
		left := todo(g)
		if len(left) == 0 {
			return g, nil
		}
		if time.Since(began) > long {
			return nil, fmt.Errorf("%w in %s: %v is left to do by its own rules in\n%s", ErrRestless, namespace, left,
				strings.Join(Snapshot(g, namespace), "\n"))
		}
		select {
		case <-time.After(testcluster.Between(time.Since(began))):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
