package graph

import (
	"iter"
	"maps"
)

// Dependents knows the dependents of each owner, by the owner's uid, while objects come and go, as
// upstream's GraphBuilder does. An owner need not be there. T stands for an object; what is added
// is compared with ==. The zero value is empty. It is not safe for concurrent use.
type Dependents[T comparable] struct{ of map[string]map[T]struct{} }

// Add records an object with its references.
func (d *Dependents[T]) Add(object T, owners []OwnerReference) {
	for _, r := range owners {
		if d.of == nil {
			d.of = map[string]map[T]struct{}{}
		}
		if d.of[r.UID] == nil {
			d.of[r.UID] = map[T]struct{}{}
		}
		d.of[r.UID][object] = struct{}{}
	}
}

// Remove takes back what was recorded of an object. The references are those that it was added
// with.
func (d *Dependents[T]) Remove(object T, owners []OwnerReference) {
	for _, r := range owners {
		if delete(d.of[r.UID], object); len(d.of[r.UID]) == 0 {
			delete(d.of, r.UID)
		}
	}
}

// Has reports whether an object has a reference with the uid.
func (d *Dependents[T]) Has(owner string) bool { return len(d.of[owner]) > 0 }

// Of iterates over the objects that have a reference with the uid, each once, in no order.
func (d *Dependents[T]) Of(owner string) iter.Seq[T] { return maps.Keys(d.of[owner]) }
