package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// mostRewatch is how long a watch waits at most before it is tried again while nobody lists.
const mostRewatch = 30 * time.Second

// refusedFor is for how long nothing may be watched or listed before that ends a store. A server
// that has just started refuses for a moment what it permits once its authorizer has read the
// roles.
const refusedFor = 30 * time.Second

// errUnanswered is of a watch that the server has not begun to answer.
var errUnanswered = errors.New("the server has not answered the watch")

// errInterrupted is of a watch that the server has ended at once, without a reason.
var errInterrupted = errors.New("the server has closed it")

// followed is a type, in a namespace or everywhere, and what is held of it. All but the first
// fields are guarded by the Store's lock.
type followed struct {
	preferred graph.Type // in the version that discovery prefers
	ctx       context.Context
	cancel    context.CancelFunc
	wake      chan struct{}

	point   ResumePoint
	objects map[string]*held // by uid
	wanted  int              // the listing that has asked for it last
	begun   bool             // somebody follows it
	asked   time.Time        // when that began
	// connected says that a watch is open, tried that it is or that it failed since it was last
	// asked for, and problem why it is not; nil before the first try.
	connected, tried bool
	problem          error
	refusedSince     time.Time // since when it may neither be watched nor listed; zero if it may
	gap              bool      // a listing has shown the problem as a gap
	definition       string    // the name of the CRD that defines the type, if that was held
	left             bool      // it is held no more, and its watch is about to end
}

// hurry has a watch that was interrupted tried again now. The lock is held.
func (f *followed) hurry() {
	if f.connected || !f.begun || !f.tried {
		return
	}
	f.tried = false
	select {
	case f.wake <- struct{}{}:
	default: // it is woken already
	}
}

// follow keeps what is held of a type as it is in the cluster.
func (s *Store) follow(f *followed) {
	interval := s.client.interval()
	expired, delay, during := f.point.ResourceVersion == "", rewatchDelay, interval
	defer f.cancel()
	for !s.isOver(f) {
		began := time.Now()
		err := s.watch(f, &expired)
		switch {
		case s.isOver(f):
			return
		case apierrors.IsUnauthorized(err):
			s.fail(err)
			return
		case stopped(err) && !expired:
			expired = true // nothing proves that it has missed nothing
			continue
		case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err), isSilent(err):
			if s.poll(f, interval, during) {
				expired = false
			}
			during = min(2*during, askAgain)
			continue // the permission may be there now
		case apierrors.IsResourceExpired(err) && !expired:
			expired = true // and listed at once
			continue
		case err == nil && time.Since(began) > rewatchDelay:
			delay = rewatchDelay
			continue // the server ends every watch after a while
		case err == nil:
			err = errInterrupted
		}
		klog.FromContext(f.ctx).V(3).Info("Watch ended", "resource", f.point.Type.Resource, "group", f.point.Type.Group,
			"err", err)
		if time.Since(began) > mostRewatch {
			delay, during = rewatchDelay, interval
		}
		s.set(func() {
			f.connected, f.tried, f.problem = false, true, fmt.Errorf("the watch was interrupted: %w", err)
			f.refusedSince = time.Time{} // which is no refusal
		})
		select {
		case <-f.ctx.Done():
		case <-f.wake:
		case <-time.After(delay):
		}
		delay = min(2*delay, mostRewatch)
	}
}

// mostAsked is how long the first watch of a type may take to be answered. A busy server takes
// seconds for those of hundreds of types.
const mostAsked = 15 * time.Second

// unanswered returns whether a watch was begun a while ago and has not been answered yet, nor
// refused: what has happened since the list is not known. The lock is held.
func (f *followed) unanswered() bool {
	return f.begun && !f.connected && !f.tried && time.Since(f.asked) > mostAsked
}

// isOver returns whether a type need not be followed any more.
func (s *Store) isOver(f *followed) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f.left || f.ctx.Err() != nil
}

// set changes what is known of a scope.
func (s *Store) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.moved.Broadcast()
}

// seen records that what happens to a type is seen, and says so if it was a gap of a listing: what
// waits for it to be closed may go on.
func (s *Store) seen(f *followed, change func()) {
	var closed bool
	var at ResumePoint
	s.set(func() {
		closed, at = f.gap, f.point
		f.tried, f.problem, f.refusedSince, f.gap = true, nil, time.Time{}, false
		change()
	})
	if closed {
		s.changed(Change{ResumePoint: at})
	}
}

// watch watches a type until the watch ends. It begins with a list if the watch before has expired.
func (s *Store) watch(f *followed, expired *bool) error {
	if *expired {
		objects, at, err := s.relist(f.ctx, f)
		if err != nil {
			return err
		}
		*expired = false
		s.replace(f, objects, at)
	}
	s.mu.Lock()
	at := f.point
	s.mu.Unlock()
	opened := func() { s.seen(f, func() { f.connected = true }) }
	err := s.client.watchOnce(f.ctx, &at, extras{s.opts.Selector, s.opts.Annotations}, opened,
		func(c Change) { s.apply(f, c) })
	s.set(func() {
		// What is held when the store ends was followed until then, and is no gap.
		f.point, f.connected = at, f.connected && f.ctx.Err() != nil
	})
	return err
}

// apply records an event and hands it on, with what was held before. Of a type that is not listed
// any more only deletions count.
func (s *Store) apply(f *followed, c Change) {
	counts := true
	s.set(func() {
		c.Definition, counts = f.definition, !f.left || c.Gone
		if f.left || f.ctx.Err() != nil {
			return // it is not held any more
		}
		f.point = c.ResumePoint
		if before := f.objects[keyOf(c.Object)]; before != nil {
			c.Before = &before.Object
			s.drops(before)
		}
		if !c.Gone {
			s.holds(s.compact(c.Object, f))
		}
	})
	if counts {
		s.changed(c)
	}
}

// replace records a list, and says so if it is not what was held.
func (s *Store) replace(f *followed, objects map[string]*held, at ResumePoint) {
	var news bool
	var missing []string
	s.set(func() {
		if f.left || f.ctx.Err() != nil {
			return
		}
		news = !maps.EqualFunc(f.objects, objects, func(a, b *held) bool { return a.ResourceVersion == b.ResourceVersion })
		for key, o := range f.objects {
			if objects[key] == nil {
				missing = append(missing, o.UID)
			}
		}
		s.release(f)
		f.objects, f.point = objects, at
		s.join(f)
	})
	if news {
		s.changed(Change{ResumePoint: at, Missing: missing})
	}
}

// poll lists a type instead of watching it, again and again for a while, and reports whether the
// last list was answered.
func (s *Store) poll(f *followed, interval, during time.Duration) bool {
	over := time.After(during)
	for {
		objects, at, err := s.relist(f.ctx, f)
		switch {
		case s.isOver(f):
			return false
		case apierrors.IsUnauthorized(err):
			return false // which the next watch will meet
		case err != nil:
			s.unlisted(f, err)
		default:
			s.replace(f, objects, at)
			s.seen(f, func() {})
		}
		select {
		case <-f.ctx.Done():
			return false
		case <-over:
			return err == nil
		case <-f.wake:
		case <-time.After(interval):
		}
	}
}

// unlisted records that a type that may not be watched could not be listed either, and ends the
// store if that has been so of all for a while.
func (s *Store) unlisted(f *followed, err error) {
	s.set(func() {
		f.tried, f.problem = true, err
		switch refused := apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err); {
		case !refused:
			f.refusedSince = time.Time{}
		case f.refusedSince.IsZero():
			f.refusedSince = time.Now()
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.scopes {
		if other.refusedSince.IsZero() || time.Since(other.refusedSince) < refusedFor {
			return
		}
	}
	s.fail(&UnseenError{Type: f.point.Type, Namespace: f.point.Namespace, Err: err})
}
