package tree

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
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

// Watch draws the tree, and again whenever something in it changes. It returns ErrGone when the objects that were named, and all they owned, are gone, nil
// when ctx ends, and the error of draw.
func Watch(ctx context.Context, q *selection.Query, opts Options, draw func(*Snapshot) error) error {
	var uids []string
	snapshot := func() (*Snapshot, error) { return look(ctx, q, uids, opts) }
	s, err := interrupt.Do(ctx, snapshot)
	if err != nil {
		return err
	}
	if len(q.Objects) > 0 {
		uids = s.roots()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	interest := newInterest()
	watching := make(chan error, 1)
	go func() { watching <- q.Client.Watch(ctx, s.ResumePoints, interest.event) }()
	defer func() { cancel(); <-watching }()
	for {
		if len(uids) > 0 && len(s.Rows) == 0 {
			return ErrGone
		}
		interest.set(s, len(q.Objects) == 0)
		if err := draw(s); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil // an interrupt is how a watch ends
		case err := <-watching:
			watching <- nil
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

// roots are the uids of the roots, by which a later look finds what is left of them under an owner that is gone.
func (s *Snapshot) roots() []string {
	var uids []string
	for _, row := range s.Rows {
		if row.Root {
			uids = append(uids, s.Graph.Ref(row.ID).UID)
		}
	}
	return uids
}

// interest picks the events that concern what is shown out of all events.
type interest struct {
	changed chan struct{}
	mu      sync.Mutex
	shown   map[string]bool // uids; nil takes every event
}

func newInterest() *interest {
	return &interest{changed: make(chan struct{}, 1)}
}

// set makes what a snapshot shows the interest; of a forest that is everything.
func (i *interest) set(s *Snapshot, forest bool) {
	var uids map[string]bool
	if !forest {
		uids = make(map[string]bool, len(s.Rows))
		for _, row := range s.Rows {
			uids[s.Graph.Ref(row.ID).UID] = true
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.shown = uids
}

func (i *interest) event(c cluster.Change) {
	o := c.Object
	i.mu.Lock()
	shown := i.shown
	i.mu.Unlock()
	concerns := o == nil || shown == nil || shown[o.UID]
	if !concerns {
		for _, r := range o.Owners {
			concerns = concerns || shown[r.UID]
		}
	}
	if concerns {
		select {
		case i.changed <- struct{}{}:
		default:
		}
	}
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
