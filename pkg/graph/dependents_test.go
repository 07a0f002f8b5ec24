package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDependentsAreThoseThatReferencesName: objects come, go and change their references in a
// random order, and each owner has the dependents that a look at all objects finds. Some owners
// have many.
func TestDependentsAreThoseThatReferencesName(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var known Dependents[int]
		objects := map[int][]OwnerReference{}
		for range 400 {
			o := rng.IntN(60)
			if owners, there := objects[o]; there {
				known.Remove(o, owners)
				delete(objects, o)
			}
			if rng.IntN(3) == 0 {
				continue
			}
			var owners []OwnerReference
			for range rng.IntN(4) {
				owners = append(owners, OwnerReference{UID: fmt.Sprint(rng.IntN(5))}) // one of them twice, now and then
			}
			known.Add(o, owners)
			objects[o] = owners
		}
		for owner := range 6 {
			uid := fmt.Sprint(owner)
			var want []int
			for o, owners := range objects {
				if slices.ContainsFunc(owners, func(r OwnerReference) bool { return r.UID == uid }) {
					want = append(want, o)
				}
			}
			slices.Sort(want)
			if got := slices.Sorted(known.Of(uid)); !slices.Equal(got, want) || known.Has(uid) != (len(want) > 0) {
				t.Fatalf("seed %d: owner %s has %v (%t), want %v", seed, uid, got, known.Has(uid), want)
			}
		}
		for o, owners := range objects {
			known.Remove(o, owners)
		}
		if len(known.of) > 0 {
			t.Errorf("seed %d: %d owners are left of no object", seed, len(known.of))
		}
	}
}
