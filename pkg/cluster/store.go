package cluster

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

const (
	// maxConnect is how long a listing of a Store waits for watches that were interrupted, and for
	// events of writes.
	maxConnect = 5 * time.Second
	// askAgain is for how long a type that may not be listed is not asked for again.
	askAgain = time.Minute
	// lastEvents is for how long the watch of a type that is not listed any more may go on. Where
	// its CRD was deleted, the events that prove that its objects are gone may come after discovery
	// has shown that.
	lastEvents = 5 * time.Second
)

// Store holds the metadata of all objects that it was told to list, and keeps it by watches from
// where the lists ended, as upstream's GraphBuilder does with its monitors. Its List answers from
// memory: it lists only types that have come since, or that could not be listed before. A type is
// listed again when its watch has expired (410); one that may not be watched is listed every
// PollInterval, and after a while, which grows to a minute, it is tried again whether it may be. So
// is one whose watch is not answered; one whose watch falls silent is listed again.
//
// What cannot be followed is a gap of the next List, and not taken for complete. List and Close are
// for one goroutine at a time, all else is safe for concurrent use.
type Store struct {
	client  *Client
	opts    ListOptions
	changed func(Change)
	ctx     context.Context
	cancel  context.CancelFunc
	workers sync.WaitGroup
	ended   chan error

	mu      sync.Mutex
	moved   sync.Cond // something has happened to a followed type
	scopes  map[scope]*followed
	refused map[scope]refusal
	expects []expected
	// round counts the listings.
	round   int
	strings interner
	// dependents are those of each owner among all that is held.
	dependents graph.Dependents[*held]
	// retyped says that types have joined or left since the last List.
	retyped bool
}

// scope is a type, in a namespace or everywhere.
type scope struct{ group, resource, namespace string }

func scopeOf(t graph.Type, namespace string) scope { return scope{t.Group, t.Resource, namespace} }

// refusal is why a scope could not be listed, and when that was.
type refusal struct {
	err error
	at  time.Time
}

// expected is an object that was written to: the store is behind as long as it has this version of
// it.
type expected struct {
	scopes       [2]scope
	uid, version string
}

// NewStore returns a Store for a listing that has sent nothing yet. Changed is called with every
// change that its watches show, from several goroutines; one without an Object says that a type was
// listed again and was not as it was held, or that one that was a gap is seen again. The watches
// end with ctx, or with Close. Progress and Fallback of the options are those of the first listing.
func (c *Client) NewStore(ctx context.Context, opts ListOptions, changed func(Change)) *Store {
	s := &Store{client: c, opts: opts, changed: changed, ended: make(chan error, 1), scopes: map[scope]*followed{},
		refused: map[scope]refusal{}}
	s.moved.L = &s.mu
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// Close ends the watches and waits until they have ended.
func (s *Store) Close() {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.workers.Wait()
}

// Ended returns where the error is that ends the Store: the server's if credentials are refused
// (401), or an *UnseenError if nothing that was listed could be watched or listed any more for half
// a minute.
func (s *Store) Ended() <-chan error { return s.ended }

func (s *Store) fail(err error) {
	select {
	case s.ended <- err:
	default: // the first counts
	}
}

// Options returns what the store lists.
func (s *Store) Options() ListOptions { return s.opts }

// Report has the listings to come report how far they are, as ListOptions.Progress says.
func (s *Store) Report(progress func(Progress)) { s.opts.Progress = progress }

// Expect records that an object was written to: the next List waits for a while until the store
// does not have it in this version any more.
func (s *Store) Expect(t graph.Type, namespace, uid, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expects = append(s.expects, expected{[2]scope{scopeOf(t, ""), scopeOf(t, namespace)}, uid, version})
}

// Follow begins to watch what was listed and is not watched yet.
func (s *Store) Follow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.scopes {
		if !f.begun && s.ctx.Err() == nil {
			f.begun, f.asked = true, time.Now()
			s.workers.Go(func() { s.follow(f) })
		}
	}
}

// List adds what the store holds to the builder, as Client.List adds what it lists. It first lists
// what the catalog has and the store does not, and drops what the catalog does not have any more.
// Types that were listed before are watched from then on. The client is the one that has discovered
// the catalog.
//
// If around is not nil, it adds only a part of it, which the result then says: the objects with
// these uids, all that depends on them, and what all these depend on. An object that is being
// deleted is there with all its dependents, and no object without those of its owners that are
// held. What is there as an owner need not have all its dependents. All is added if types have
// joined or left since the List before.
func (s *Store) List(ctx context.Context, client *Client, cat *Catalog, b *graph.Builder,
	around []string) (result *ListResult, part bool, err error) {
	s.Follow()
	s.mu.Lock()
	s.round++
	s.mu.Unlock()
	l := newLister(client, cat, s.opts, b)
	l.store = s
	if err := l.list(ctx); err != nil {
		return nil, false, err
	}
	s.drop()
	if err := s.catchUp(ctx); err != nil {
		return nil, false, err
	}
	if part, err = s.fill(ctx, b, l, around); err != nil {
		return nil, false, err
	}
	return l.sorted(), part, nil
}

// has reports whether a type is held in a namespace, or everywhere, or returns the error of a list
// that need not be tried again yet.
func (s *Store) has(r Resource, namespace string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := scopeOf(r.Type, namespace)
	if f := s.scopes[at]; f != nil {
		if f.preferred == r.Type {
			f.wanted = s.round
			return true, nil
		}
		s.remove(at) // it is served otherwise now
	}
	if no, ok := s.refused[at]; ok && apierrors.IsForbidden(no.err) && time.Since(no.at) < askAgain {
		return false, no.err
	}
	return false, nil
}

// tried records what came of listing a type that is not held.
func (s *Store) tried(t graph.Type, namespace string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := scopeOf(t, namespace)
	if err != nil {
		s.refused[at] = refusal{err, time.Now()}
		return
	}
	delete(s.refused, at)
	s.retyped = true
	s.scopes[at].preferred = t // it may have been listed in another version
}

// drop forgets the types and namespaces that the listing that is under way did not ask for.
func (s *Store) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, f := range s.scopes {
		if f.wanted != s.round {
			s.remove(at)
		}
	}
}

// remove forgets a scope. The lock is held.
func (s *Store) remove(at scope) {
	f := s.scopes[at]
	f.left = true
	time.AfterFunc(lastEvents, f.cancel)
	s.release(f)
	delete(s.scopes, at)
	s.retyped = true
	s.moved.Broadcast()
}

// names returns the names of the objects of a type that is held everywhere; false if it is not, or
// if it is not followed at the moment, so that there may be others.
func (s *Store) names(group, resource string) ([]string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.scopes[scope{group, resource, ""}]
	if f == nil {
		return nil, false
	}
	names := make([]string, 0, len(f.objects))
	for _, o := range f.objects {
		names = append(names, o.Name)
	}
	return names, f.problem == nil && !f.unanswered()
}

// catchUp waits until watches that were interrupted have been tried again, and until the events of
// writes have come; not longer than maxConnect.
func (s *Store) catchUp(ctx context.Context) error {
	wake := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.moved.Broadcast()
	}
	over := time.Now().Add(maxConnect)
	timer := time.AfterFunc(maxConnect, wake)
	defer timer.Stop()
	defer context.AfterFunc(ctx, wake)()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.scopes {
		if s.ctx.Err() == nil { // otherwise nothing is watched again
			f.hurry()
		}
	}
	for ctx.Err() == nil && s.ctx.Err() == nil && time.Now().Before(over) && s.behind() {
		s.moved.Wait()
	}
	s.expects = nil
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// behind reports whether a watch has yet to begin, or an event of a write has yet to come. The lock
// is held.
func (s *Store) behind() bool {
	for _, f := range s.scopes {
		if f.begun && !f.tried {
			return true
		}
	}
	for _, e := range s.expects {
		for _, at := range e.scopes {
			if f := s.scopes[at]; f != nil && f.connected {
				if o := f.objects[e.uid]; o != nil && o.ResourceVersion == e.version {
					return true
				}
			}
		}
	}
	return false
}

// define records which types CRDs define. The lock is held.
func (s *Store) define() {
	crds := s.scopes[scope{CRDs.Group, CRDs.Resource, ""}]
	if crds == nil {
		return
	}
	names := map[string]bool{}
	for _, o := range crds.objects {
		names[o.Name] = true
	}
	for at, f := range s.scopes {
		if name := at.resource + "." + at.group; names[name] {
			f.definition = name
		}
	}
}

// fill adds to a builder all that is held, or the part around some objects unless types have joined
// or left. What is not followed at the moment is a gap.
func (s *Store) fill(ctx context.Context, b *graph.Builder, l *lister, around []string) (part bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	part = around != nil && !s.retyped
	if !part {
		s.define()
	}
	s.retyped = false
	listings := make(map[*followed]*graph.Listing, len(s.scopes))
	for at, f := range s.scopes {
		listing := b.Listing(f.point.Type, at.namespace)
		listings[f] = listing
		if !part {
			for _, o := range f.objects {
				listing.Add(o.Object)
			}
		}
		problem := f.problem
		if problem == nil && f.unanswered() {
			problem = errUnanswered
		}
		if problem == nil {
			listing.Complete()
			l.result.ResumePoints = append(l.result.ResumePoints, f.point)
			continue
		}
		f.gap = true
		if err := l.note(ctx, f.point.Type, at.namespace, problem); err != nil {
			return false, err
		}
	}
	if part {
		for o := range s.around(around) {
			listings[o.in].Add(o.Object)
		}
	}
	return part, nil
}
