package cmd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

const (
	// settle is how long a burst of events is given to end before the tree is drawn again.
	settle = 200 * time.Millisecond
	// redrawEvery bounds how often that happens while there is no end to the events.
	redrawEvery = time.Second
	clearScreen = "\x1b[H\x1b[2J\x1b[3J"
)

// watchTree draws the tree, and again whenever something in it changes. It ends when the objects that were named, and all
// they owned, are gone, or when it is interrupted.
func (f *treeFlags) watchTree(ctx context.Context, req *treeRequest) error {
	snapshot := func() (*treeSnapshot, error) { return f.snapshot(ctx, req) }
	s, err := interruptible(ctx, snapshot)
	if err != nil {
		return err
	}
	req.remember(s)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	interest := newInterest()
	watching := make(chan error, 1)
	go func() { watching <- req.client.Watch(ctx, s.positions, interest.event) }()
	defer func() { cancel(); <-watching }()
	for {
		if req.gone(s) {
			fmt.Fprintln(f.ErrOut, "Nothing is left of it.")
			return nil
		}
		interest.set(s)
		if err := f.redraw(ctx, req, s); err != nil && ctx.Err() == nil {
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
		if s, err = interruptible(ctx, snapshot); err != nil {
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
	}
}

func (f *treeFlags) redraw(ctx context.Context, req *treeRequest, s *treeSnapshot) error {
	if printers.IsTerminal(f.Out) {
		fmt.Fprint(f.Out, clearScreen)
	} else if req.drawn {
		fmt.Fprintln(f.Out)
	}
	if !req.drawn {
		warnGaps(f.ErrOut, s.gaps)
	}
	req.drawn = true
	return f.print(ctx, s)
}

// remember keeps the uids of the roots, so that a later look finds what is left of them under an owner that is gone.
func (r *treeRequest) remember(s *treeSnapshot) {
	if len(r.roots.objects) == 0 {
		return
	}
	for _, row := range s.Rows {
		if row.Root {
			r.uids = append(r.uids, s.Graph.Ref(row.ID).UID)
		}
	}
}

// gone says whether nothing is left of the objects that were named.
func (r *treeRequest) gone(s *treeSnapshot) bool { return len(r.uids) > 0 && len(s.Rows) == 0 }

// interest picks the events that concern what is shown out of all events.
type interest struct {
	changed chan struct{}
	mu      sync.Mutex
	shown   map[string]bool // uids; nil takes every event
}

func newInterest() *interest {
	return &interest{changed: make(chan struct{}, 1)}
}

// set makes what a snapshot shows the interest.
func (i *interest) set(s *treeSnapshot) {
	var uids map[string]bool
	if !s.forest {
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
