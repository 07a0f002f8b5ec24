package tree

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
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

// Watch draws the tree, and again whenever something in it changes. It returns ErrGone when the objects that were named, and all they owned or deleted by a link,
// are gone, nil when ctx ends, and the error of draw.
func Watch(ctx context.Context, q *selection.Query, opts Options, draw func(*Snapshot) error) error {
	asked := *q
	var of *followed
	snapshot := func() (*Snapshot, error) { return look(ctx, &asked, of, opts) }
	s, err := interrupt.Do(ctx, snapshot)
	if err != nil {
		return err
	}
	interest := newInterest()
	var w *watch
	defer func() { w.stop() }()
	for {
		if len(q.Objects) > 0 {
			of = of.follow(s)
		}
		if of != nil && len(s.Rows) == 0 {
			return ErrGone
		}
		interest.set(s, of == nil)
		if w == nil || w.scope != s.Options.Namespace { // a link has come that leads out of what is watched
			w.stop()
			w = startWatch(ctx, q.Client, s, interest)
			asked.Scope = w.scope
		}
		if err := draw(s); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil // an interrupt is how a watch ends
		case err := <-w.ended:
			if ctx.Err() != nil {
				return nil
			}
			return err
		case <-interest.changed:
		}
		interest.settle(ctx)
		if s, err = interrupt.Do(ctx, snapshot); err != nil {
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
	}
}

// watch is a watch of all that a snapshot listed.
type watch struct {
	scope  string
	cancel context.CancelFunc
	ended  chan error
}

func startWatch(ctx context.Context, client *cluster.Client, s *Snapshot, interest *interest) *watch {
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{scope: s.Options.Namespace, cancel: cancel, ended: make(chan error, 1)}
	go func() {
		w.ended <- client.Watch(ctx, s.ResumePoints, interest.event)
		close(w.ended)
	}()
	return w
}

// stop ends the watch, if there is one, and waits until it has ended.
func (w *watch) stop() {
	if w == nil {
		return
	}
	w.cancel()
	for range w.ended { // until it is closed
	}
}

// interest picks the events that concern what is shown out of all events.
type interest struct {
	changed chan struct{}
	mu      sync.Mutex
	shown   *shown // nil takes every event
}

// shown is what a tree shows.
type shown struct {
	uids map[string]bool
	// named are objects that are not there: a link names them, and nothing says which uid they will have.
	named map[named]bool
}

type named struct{ group, resource, namespace, name string }

func newInterest() *interest {
	return &interest{changed: make(chan struct{}, 1)}
}

// set makes what a snapshot shows the interest; of a forest that is everything.
func (i *interest) set(s *Snapshot, forest bool) {
	var all *shown
	if !forest {
		all = &shown{make(map[string]bool, len(s.Rows)), map[named]bool{}}
		for _, row := range s.Rows {
			ref := s.Graph.Ref(row.ID)
			if ref.UID != "" {
				all.uids[ref.UID] = true
			}
			if !s.Graph.Observed(row.ID) {
				all.named[named{ref.Group(), ref.Resource, ref.Namespace, ref.Name}] = true
			}
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.shown = all
}

func (i *interest) event(c cluster.Change) {
	i.mu.Lock()
	shown := i.shown
	i.mu.Unlock()
	if shown.concerns(c) {
		select {
		case i.changed <- struct{}{}:
		default:
		}
	}
}

// concerns says whether a change can change what is shown: it is of an object that is, or that one of these owns or names.
func (s *shown) concerns(c cluster.Change) bool {
	o, t := c.Object, c.ResumePoint.Type
	if s == nil || o == nil || s.uids[o.UID] || s.named[named{t.Group, t.Resource, o.Namespace, o.Name}] {
		return true
	}
	return slices.ContainsFunc(o.Owners, func(r graph.OwnerReference) bool { return s.uids[r.UID] })
}

// settle waits until no more events come, or for as long as is bearable.
func (i *interest) settle(ctx context.Context) {
	deadline := time.NewTimer(redrawEvery)
	defer deadline.Stop()
	for {
		quiet := time.NewTimer(settle)
		select {
		case <-i.changed:
			quiet.Stop()
			continue
		case <-quiet.C:
			return
		case <-deadline.C:
		case <-ctx.Done():
		}
		quiet.Stop()
		return
	}
}
