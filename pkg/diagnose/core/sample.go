package core

import (
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Sample keeps what was found at objects. Of a group of objects that are alike only so many are
// examined; the others are told what was found at the first.
type Sample[K comparable, T any] struct {
	own    map[graph.ID]*Examined[T]
	groups map[K][]*Examined[T]
}

// Examined is an object with what was found at it.
type Examined[T any] struct {
	ID   graph.ID
	once sync.Once
	got  T
}

// Once returns what was found, and examines the object if nobody has yet.
func (x *Examined[T]) Once(examine func(graph.ID) T) T {
	x.once.Do(func() { x.got = examine(x.ID) })
	return x.got
}

// Of returns what stands for an object: itself, or the first of its group where that is full, with
// so many of the group and of all.
func (s *Sample[K, T]) Of(id graph.ID, group K, full func(n, all int) bool) *Examined[T] {
	if x := s.own[id]; x != nil {
		return x
	}
	if s.own == nil {
		s.own, s.groups = map[graph.ID]*Examined[T]{}, map[K][]*Examined[T]{}
	}
	if full(len(s.groups[group]), len(s.own)) {
		return s.groups[group][0]
	}
	x := &Examined[T]{ID: id}
	s.own[id], s.groups[group] = x, append(s.groups[group], x)
	return x
}

// Like says at an object that findings were made at another that stands for it.
func (e *Examination) Like(findings []Finding, id, examined graph.ID) []Finding {
	if id == examined {
		return findings
	}
	return WithEvidenceBehind(findings, Observed("like "+e.Placed(examined)+", which was examined")...)
}
