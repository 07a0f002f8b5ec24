package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestWhatAStoreHasAroundAnObject: of random clusters, all that depends on the objects that are
// asked for is there, what is being deleted has all its dependents, and no object is without an
// owner that is held. It is no more than that takes.
func TestWhatAStoreHasAroundAnObject(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		s := randomStore(t, rng)
		asked := []string{fmt.Sprint(rng.IntN(30)), fmt.Sprint(rng.IntN(30))}
		s.mu.Lock()
		got := s.around(asked)
		s.mu.Unlock()
		want := map[*held]bool{} // true with all dependents
		for grown := true; grown; {
			grown = false
			add := func(o *held, whole bool) {
				whole = whole || o.DeletionTimestamp != 0
				if was, there := want[o]; !there || whole && !was {
					want[o], grown = whole, true
				}
			}
			s.each(func(o *held) {
				if slices.Contains(asked, o.UID) {
					add(o, true)
				}
				for _, r := range o.Owners {
					if slices.Contains(asked, r.UID) {
						add(o, true)
					}
					s.each(func(owner *held) {
						if owner.UID != r.UID {
							return
						}
						if _, there := want[o]; there {
							add(owner, false)
						}
						if want[owner] {
							add(o, true)
						}
					})
				}
			})
		}
		if len(got) != len(want) {
			t.Fatalf("seed %d: around %v there are %d objects, want %d", seed, asked, len(got), len(want))
		}
		for o := range want {
			if !got[o] {
				t.Fatalf("seed %d: around %v there is no %s", seed, asked, o.Name)
			}
		}
	}
}

// randomStore returns a store of 25 objects with uids below 30 and random owners, some of them held
// under two types and some being deleted, after some changes.
func randomStore(t *testing.T, rng *rand.Rand) *Store {
	s := (&Client{}).NewStore(t.Context(), ListOptions{}, func(Change) {})
	var all []*followed
	for _, resource := range []string{"as", "bs", "cs"} {
		f := &followed{}
		s.listing(f).hold(ResumePoint{Type: graph.Type{Version: "v1", Resource: resource, Kind: resource}})
		all = append(all, f)
	}
	for range 120 {
		f := all[rng.IntN(len(all))]
		o := graph.Object{UID: fmt.Sprint(rng.IntN(25)), DeletionTimestamp: int64(max(0, rng.IntN(8)-6))}
		o.Name = o.UID
		for range rng.IntN(3) {
			o.Owners = append(o.Owners, graph.OwnerReference{UID: fmt.Sprint(rng.IntN(30))})
		}
		s.apply(f, Change{Object: &o, Gone: rng.IntN(3) == 0})
	}
	return s
}

func (s *Store) each(f func(*held)) {
	for _, scope := range s.scopes {
		for _, o := range scope.objects {
			f(o)
		}
	}
}

// TestAStoreSaysWhatAnEventHasChanged: what was held before goes with each event, and with a list
// what it does not show any more.
func TestAStoreSaysWhatAnEventHasChanged(t *testing.T) {
	s, f := holding(t, 3)
	var last Change
	s.changed = func(c Change) { last = c }
	changed, created := event(0, 7), event(9, 8)
	s.apply(f, Change{Object: &changed, ResumePoint: f.point})
	if last.Before == nil || last.Before.ResourceVersion != "0" {
		t.Errorf("before the change there was %v", last.Before)
	}
	s.apply(f, Change{Object: &created, ResumePoint: f.point})
	if last.Before != nil {
		t.Errorf("before it was created there was %v", last.Before)
	}
	owner := event(0, 0).Owners[0].UID
	if !s.Referenced(owner) {
		t.Error("its owner is not referenced")
	}
	now := s.listing(f)
	now.Add(event(1, 0), created)
	s.replace(f, now.objects, f.point)
	if last.Object != nil || len(last.Missing) != 2 || s.Referenced(owner) {
		t.Errorf("a list has told %v, its owner is referenced: %t", last, s.Referenced(owner))
	}
	if of, o, found := s.Lookup(created.UID, "ConfigMap"); !found || o.Name != created.Name || of.Kind != "ConfigMap" {
		t.Errorf("looked up %v %v %t", of, o, found)
	}
	if _, _, found := s.Lookup("nobody", "ConfigMap"); found {
		t.Error("found what is not there")
	}
}

// TestATypeThatIsNotListedAnyMoreStillSaysWhatIsDeleted: when a CRD is deleted, discovery may show
// that before the watch shows what has gone with it.
func TestATypeThatIsNotListedAnyMoreStillSaysWhatIsDeleted(t *testing.T) {
	var told []Change
	s := (&Client{}).NewStore(t.Context(), ListOptions{}, func(c Change) { told = append(told, c) })
	custom, crds := &followed{}, &followed{}
	at := ResumePoint{Type: graph.Type{Group: "example.com", Version: "v1", Resource: "widgets", Kind: "Widget"}}
	s.listing(custom).hold(at)
	s.listing(crds).hold(ResumePoint{Type: graph.Type{Group: CRDs.Group, Version: "v1", Resource: CRDs.Resource,
		Kind: "CustomResourceDefinition"}})
	definition := graph.Object{UID: "d", Name: "widgets.example.com"}
	s.apply(crds, Change{Object: &definition})
	filled(t, s)
	s.apply(crds, Change{Object: &definition, Gone: true})
	s.mu.Lock()
	s.remove(scopeOf(at.Type, ""))
	s.mu.Unlock()
	told = nil
	s.apply(custom, Change{Object: &graph.Object{UID: "a", Name: "a"}})
	s.apply(custom, Change{Object: &graph.Object{UID: "b", Name: "b"}, Gone: true})
	if len(told) != 1 || told[0].Object.Name != "b" || told[0].Definition != "widgets.example.com" {
		t.Errorf("it has told %+v", told)
	}
	if len(custom.objects) != 0 || !s.isOver(custom) || custom.ctx.Err() != nil {
		t.Errorf("it holds %v, and is over: %t, %v", custom.objects, s.isOver(custom), custom.ctx.Err())
	}
}
