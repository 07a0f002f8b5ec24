package cluster

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// collector is what a list is read into: a listing of a graph, or of a Store.
type collector interface {
	Add(objects ...graph.Object)
	Discard()
}

// storeListing is a list that a Store will hold.
type storeListing struct {
	store   *Store
	of      *followed
	objects map[string]*held
}

// listing begins a list of what is followed, or is going to be.
func (s *Store) listing(of *followed) *storeListing { return &storeListing{s, of, map[string]*held{}} }

// Add keeps objects.
func (l *storeListing) Add(objects ...graph.Object) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	for i := range objects {
		o := l.store.compact(&objects[i], l.of)
		l.objects[keyOf(&o.Object)] = o
	}
}

// Discard drops what was added.
func (l *storeListing) Discard() { clear(l.objects) }

// hold has the store hold a list that has ended at a resume point.
func (l *storeListing) hold(at ResumePoint) {
	s, f := l.store, l.of
	f.point, f.preferred, f.objects = at, at.Type, l.objects
	f.ctx, f.cancel = context.WithCancel(s.ctx)
	f.wake = make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	f.wanted = s.round
	s.scopes[scopeOf(at.Type, at.Namespace)] = f
	s.join(f)
}

// keyOf is the uid, or the place for the odd server that gives none.
func keyOf(o *graph.Object) string {
	if o.UID != "" {
		return o.UID
	}
	return "\x00" + o.Namespace + "\x00" + o.Name
}

// compact returns a copy of an object that shares what many objects have in common, and needs no
// more than it has. The lock is held.
func (s *Store) compact(o *graph.Object, in *followed) *held {
	c := &held{*o, in}
	c.Namespace = s.strings.text(o.Namespace)
	c.Finalizers, c.Owners, c.Annotations = nil, nil, nil
	for _, f := range o.Finalizers {
		c.Finalizers = append(c.Finalizers, s.strings.text(f))
	}
	if len(o.Owners) > 0 {
		c.Owners = make([]graph.OwnerReference, len(o.Owners))
		for i, r := range o.Owners {
			r.APIVersion, r.Kind, r.Name, r.UID = s.strings.text(r.APIVersion), s.strings.text(r.Kind), s.strings.text(r.Name),
				s.strings.text(r.UID)
			c.Owners[i] = r
		}
	}
	for key, value := range o.Annotations { // of one that lists annotations
		if c.Annotations == nil {
			c.Annotations = make(map[string]string, len(o.Annotations))
		}
		c.Annotations[key] = s.strings.text(value)
	}
	return c
}

// relist lists a scope again.
func (s *Store) relist(ctx context.Context, f *followed) (map[string]*held, ResumePoint, error) {
	into := s.listing(f)
	at, err := restarting(func() (ResumePoint, error) {
		into.Discard()
		return s.client.forEach(ctx, f.point.Type, f.point.Namespace, extras{s.opts.Selector, s.opts.Annotations},
			func(o *graph.Object) { into.Add(*o) })
	})
	return into.objects, at, err
}

// held is an object that a Store holds, and where. It does not change; a change of the object takes
// its place.
type held struct {
	graph.Object
	in *followed
}

// holds adds an object to what is held. The lock is held.
func (s *Store) holds(o *held) {
	o.in.objects[keyOf(&o.Object)] = o
	s.dependents.Add(o, o.Owners)
}

// drops takes an object out of what is held. The lock is held.
func (s *Store) drops(o *held) {
	delete(o.in.objects, keyOf(&o.Object))
	s.dependents.Remove(o, o.Owners)
}

// join makes the objects of a type that is held dependents of their owners, and release takes that
// back. The lock is held.
func (s *Store) join(f *followed) {
	for _, o := range f.objects {
		s.dependents.Add(o, o.Owners)
	}
}

func (s *Store) release(f *followed) {
	for _, o := range f.objects {
		s.dependents.Remove(o, o.Owners)
	}
}

// Lookup returns the object that the store holds with a uid, and its type. Of an object that is
// served by several APIs it returns one, of the kind that is given if there is one: with the right
// kind it is found at once.
func (s *Store) Lookup(uid, kind string) (graph.Type, graph.Object, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var other *held
	for _, f := range s.scopes {
		if other != nil && f.point.Type.Kind != kind {
			continue
		}
		if o := f.objects[uid]; o != nil {
			if f.point.Type.Kind == kind {
				return f.point.Type, o.Object, true
			}
			other = o
		}
	}
	if other == nil {
		return graph.Type{}, graph.Object{}, false
	}
	return other.in.point.Type, other.Object, true
}

// Referenced reports whether an object that the store holds has a reference with the uid.
func (s *Store) Referenced(uid string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dependents.Has(uid)
}

// around returns the objects with these uids, and what List promises of them. The lock is held.
func (s *Store) around(uids []string) map[*held]bool {
	found := map[*held]bool{}
	// the uids that were looked up, and those whose dependents were added
	named, whole := map[string]bool{}, map[string]bool{}
	type step struct {
		*held
		whole bool
	}
	var open []step
	lookUp := func(uid string, whole bool) {
		if named[uid] {
			return
		}
		named[uid] = true
		for _, f := range s.scopes { // an object that is served by several APIs is held once for each
			if o := f.objects[uid]; o != nil {
				open = append(open, step{o, whole})
			}
		}
	}
	addDependents := func(uid string) {
		if whole[uid] || uid == "" {
			return
		}
		whole[uid] = true
		for o := range s.dependents.Of(uid) {
			open = append(open, step{o, true})
		}
	}
	for _, uid := range uids {
		lookUp(uid, true)
		addDependents(uid) // also of one that is gone
	}
	for len(open) > 0 {
		o := open[len(open)-1]
		open = open[:len(open)-1]
		if !found[o.held] {
			found[o.held] = true
			for _, r := range o.Owners {
				lookUp(r.UID, false)
			}
		}
		if o.whole || o.DeletionTimestamp != 0 {
			addDependents(o.UID)
		}
	}
	return found
}
