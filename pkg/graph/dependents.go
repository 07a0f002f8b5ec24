package graph

import (
	"iter"
	"maps"
	"slices"
)

// Dependents knows the dependents of each owner, by the owner's uid, while objects come and go, as
// upstream's GraphBuilder does. An owner need not be there. T stands for an object; what is added
// is compared with ==. The zero value is empty. It is not safe for concurrent use.
type Dependents[T comparable] struct{ of map[string]*dependents[T] }

// manyDependents is from how many dependents on they are kept in a map: most owners have a few, and
// some have hundreds of thousands.
const manyDependents = 16

type dependents[T comparable] struct {
	few  []T
	many map[T]struct{}
}

// Add records an object with its references.
func (d *Dependents[T]) Add(object T, owners []OwnerReference) {
	for i, r := range owners {
		if d.of == nil {
			d.of = map[string]*dependents[T]{}
		}
		s := d.of[r.UID]
		if s == nil {
			s = &dependents[T]{}
			d.of[r.UID] = s
		}
		if !names(owners[:i], r.UID) {
			s.add(object)
		}
	}
}

// Remove takes back what was recorded of an object. The references are those that it was added
// with.
func (d *Dependents[T]) Remove(object T, owners []OwnerReference) {
	for _, r := range owners {
		if s := d.of[r.UID]; s != nil {
			if s.remove(object); s.empty() {
				delete(d.of, r.UID)
			}
		}
	}
}

// Has says whether an object has a reference with the uid.
func (d *Dependents[T]) Has(owner string) bool { return d.of[owner] != nil }

// Of iterates over the objects that have a reference with the uid, each once, in no order.
func (d *Dependents[T]) Of(owner string) iter.Seq[T] {
	switch s := d.of[owner]; {
	case s == nil:
		return func(func(T) bool) {}
	case s.many != nil:
		return maps.Keys(s.many)
	default:
		return slices.Values(s.few)
	}
}

func (s *dependents[T]) add(object T) {
	switch {
	case s.many != nil:
		s.many[object] = struct{}{}
	case len(s.few) < manyDependents:
		s.few = append(s.few, object)
	default:
		s.many = make(map[T]struct{}, 2*manyDependents)
		for _, o := range s.few {
			s.many[o] = struct{}{}
		}
		s.many[object] = struct{}{}
		s.few = nil
	}
}

func (s *dependents[T]) remove(object T) {
	delete(s.many, object)
	if i := slices.Index(s.few, object); i >= 0 {
		s.few = slices.Delete(s.few, i, i+1)
	}
}

func (s *dependents[T]) empty() bool { return len(s.few) == 0 && len(s.many) == 0 }

// names says whether one of the references has the uid.
func names(owners []OwnerReference, uid string) bool {
	return slices.ContainsFunc(owners, func(r OwnerReference) bool { return r.UID == uid })
}
