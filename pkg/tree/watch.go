package tree

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

const (
	// settle is how long a burst of events is given to end before the tree is drawn again.
	settle = 200 * time.Millisecond
	// redrawEvery bounds how often that happens while there is no end to the events.
	redrawEvery = time.Second
)

// ErrGone says that nothing is left of the objects that were watched.
var ErrGone = errors.New("nothing is left of it")

// Watch draws the tree, and again whenever something in it changes. It returns ErrGone when the
// objects that were named, and all they owned or deleted by a link, are gone, nil when ctx ends,
// and the error of draw.
func Watch(ctx context.Context, q *selection.Query, opts Options, draw func(*Snapshot) error) error {
	asked := *q
	interest := newInterest()
	asked.Store = asked.NewStore(ctx, interest.event)
	defer func() { asked.Store.Close() }()
	var of *followed
	drawn := false
	for {
		if interest.retyped.Swap(false) {
			fresh := q.Client.WithFreshDiscovery()
			if catalog, err := fresh.Discover(ctx); err == nil { // otherwise what was served still counts
				asked.Client, asked.Catalog = fresh, catalog
			}
		}
		interest.look()
		s, err := look(ctx, &asked, of, opts)
		switch {
		case drawn && errors.Is(err, context.Canceled):
			return nil
		case err != nil:
			return err
		case s.Options.Namespace != asked.Scope: // a link has come that leads out of what is watched
			asked.Store.Close()
			asked.Scope = s.Options.Namespace
			asked.Store = asked.NewStore(ctx, interest.event)
			continue
		}
		if len(q.Objects) > 0 {
			of = of.follow(s)
		}
		if of != nil && len(s.Rows) == 0 {
			return ErrGone
		}
		interest.set(s, of == nil)
		asked.Store.Follow()
		if err := draw(s); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil // an interrupt is how a watch ends
		case err := <-asked.Store.Ended():
			if ctx.Err() != nil {
				return nil
			}
			return err
		case <-interest.changed:
		}
		drawn = true
		interest.settle(ctx)
	}
}
