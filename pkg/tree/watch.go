package tree

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
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

// interest picks the events that concern what is shown out of all events.
type interest struct {
	changed chan struct{}
	// retyped says that types may have been added or removed, whose objects can belong to what is
	// shown.
	retyped atomic.Bool
	mu      sync.Mutex
	shown   *shown // nil takes every event
	// looking says that a snapshot is being taken, and meanwhile are the events since that began:
	// one may concern what the snapshot is the first to show.
	looking   bool
	meanwhile []cluster.Change
}

// mostMeanwhile is how many events are kept while a snapshot is taken; after more of them the next
// snapshot is taken in any case.
const mostMeanwhile = 10_000

// shown is what a tree shows.
type shown struct {
	uids map[string]bool
	// named are objects that are not there: a link names them, and nothing says which uid they will
	// have.
	named map[named]bool
	// sources are the types of which an object can name one that is shown, and listed reports
	// whether there was an object when that was looked for.
	sources map[graph.Type]bool
	listed  func(uid string) bool
}

type named struct{ group, resource, namespace, name string }

func newInterest() *interest {
	return &interest{changed: make(chan struct{}, 1)}
}

// look says that a snapshot is about to be taken; set ends that.
func (i *interest) look() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.looking = true
}

// set makes what a snapshot shows the interest; of a forest that is everything.
func (i *interest) set(s *Snapshot, forest bool) {
	var all *shown
	if !forest {
		all = &shown{uids: make(map[string]bool, len(s.Rows)), named: map[named]bool{}, sources: map[graph.Type]bool{}}
		all.listed = func(uid string) bool { _, ok := s.Graph.Lookup(uid); return ok }
		for _, t := range s.sources {
			all.sources[t] = true
		}
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
	if len(i.meanwhile) == mostMeanwhile || slices.ContainsFunc(i.meanwhile, all.concerns) {
		i.tell()
	}
	i.looking, i.meanwhile = false, nil
}

func (i *interest) tell() {
	select {
	case i.changed <- struct{}{}:
	default:
	}
}

func (i *interest) event(c cluster.Change) {
	defines := cluster.DefinesTypes(c.ResumePoint.Type)
	if defines {
		i.retyped.Store(true)
	}
	i.mu.Lock()
	shown := i.shown
	if i.looking && len(i.meanwhile) < mostMeanwhile {
		i.meanwhile = append(i.meanwhile, c)
	}
	i.mu.Unlock()
	if defines || shown.concerns(c) {
		i.tell()
	}
}

// concerns reports whether a change can change what is shown: it is of an object that is, or that
// one of these owns or names, or of a new one that can name them.
func (s *shown) concerns(c cluster.Change) bool {
	o, t := c.Object, c.ResumePoint.Type
	if s == nil || o == nil || s.uids[o.UID] || s.named[named{t.Group, t.Resource, o.Namespace, o.Name}] {
		return true
	}
	if s.sources[t] && !c.Gone && !s.listed(o.UID) {
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
