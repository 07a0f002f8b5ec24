package collect

import (
	"context"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// settling is how long the loop waits for more changes before it looks at those that it has heard of.
const settling = 100 * time.Millisecond

// Watch runs the loop, and again whenever something changes that can give it work, until enough says so of what a run has left, or the context
// ends, which is the error then. It watches all types; a pass lists again, with fresh discovery, so that new types join.
func (l *Loop) Watch(ctx context.Context, enough func(*Summary) bool) (*Summary, error) {
	var watched *watcher
	defer func() { watched.stop() }()
	for {
		s, err := l.Run(ctx)
		if err != nil || enough != nil && enough(s) {
			return s, err
		}
		if watched == nil || !watched.covers(s.Positions) {
			watched.stop()
			watched = watch(ctx, l.client, s.Positions)
		}
		if err := watched.wait(ctx); err != nil {
			return s, err
		}
		clear(l.failed) // what was refused before may be taken now
	}
}

// watcher hears of changes.
type watcher struct {
	types  []graph.Type
	dirty  chan struct{}
	cancel context.CancelFunc
	ended  chan error
}

func watch(ctx context.Context, client *cluster.Client, positions []cluster.Position) *watcher {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{types: typesOf(positions), dirty: make(chan struct{}, 1), cancel: cancel, ended: make(chan error, 1)}
	go func() {
		w.ended <- client.Watch(ctx, positions, func(c cluster.Change) {
			if givesWork(c) {
				select {
				case w.dirty <- struct{}{}:
				default:
				}
			}
		})
	}()
	return w
}

// givesWork says whether a change can make the collector act (GC-023 to GC-027): an object is gone, or names owners, or waits for its dependents;
// or a type has come or gone.
func givesWork(c cluster.Change) bool {
	o := c.Object
	if o == nil || c.Gone || len(o.Owners) > 0 {
		return true
	}
	if c.Position.Type.Resource == "customresourcedefinitions" || c.Position.Type.Resource == "apiservices" {
		return true
	}
	return o.Deleted != 0 && (slices.Contains(o.Finalizers, plan.OrphanFinalizer) || slices.Contains(o.Finalizers, plan.ForegroundFinalizer))
}

func typesOf(positions []cluster.Position) []graph.Type {
	var types []graph.Type
	for _, p := range positions {
		types = append(types, p.Type)
	}
	return types
}

// covers says whether all that was listed is watched.
func (w *watcher) covers(positions []cluster.Position) bool {
	for _, t := range typesOf(positions) {
		if !slices.Contains(w.types, t) {
			return false
		}
	}
	return true
}

// wait waits for a change, and a little longer for those that come with it.
func (w *watcher) wait(ctx context.Context) error {
	select {
	case <-w.dirty:
	case err := <-w.ended:
		w.ended <- err
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-time.After(settling):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-w.dirty:
	default:
	}
	return nil
}

// stop ends the watches; a watcher that was never begun has none.
func (w *watcher) stop() {
	if w == nil {
		return
	}
	w.cancel()
	<-w.ended
}
