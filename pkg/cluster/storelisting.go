package cluster

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

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
	for restarts := 0; ; restarts++ {
		into := s.listing(f)
		at, err := s.client.forEach(ctx, f.point.Type, f.point.Namespace, extras{s.opts.Selector, s.opts.Annotations},
			func(o *graph.Object) { into.Add(*o) })
		if !apierrors.IsResourceExpired(err) || restarts == maxRestarts {
			return into.objects, at, err
		}
	}
}

// differs says whether two lists do not have the same objects in the same versions.
func differs(a, b map[string]*held) bool {
	if len(a) != len(b) {
		return true
	}
	for uid, o := range a {
		if other := b[uid]; other == nil || o.ResourceVersion != other.ResourceVersion {
			return true
		}
	}
	return false
}
