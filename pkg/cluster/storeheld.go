package cluster

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

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

// Referenced says whether an object that the store holds has a reference with the uid.
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
