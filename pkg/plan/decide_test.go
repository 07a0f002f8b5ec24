package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDecide goes through the decision table of GC-042 to GC-055.
func TestDecide(t *testing.T) {
	owners := func(states ...OwnerState) []OwnerState { return states }
	for name, test := range map[string]struct {
		item Item
		want Decision
	}{
		"no references (GC-045)":         {Item{}, Decision{}},
		"already being deleted (GC-042)": {Item{Deleting: true, Owners: owners(Absent)}, Decision{}},
		"solid (GC-046)":                 {Item{Owners: owners(Solid)}, Decision{}},
		"absent (GC-055)": {Item{Owners: owners(Absent)},
			Decision{Do: Delete, Policy: Background}},
		"replaced and mismatched (GC-055)": {Item{Owners: owners(Replaced, Mismatch)},
			Decision{Do: Delete, Policy: Background}},
		"its own orphan finalizer counts (GC-055)": {Item{Orphan: true, Owners: owners(Absent)},
			Decision{Do: Delete, Policy: Orphan}},
		"its own foreground finalizer counts (GC-055)": {Item{Foreground: true, Owners: owners(Absent)},
			Decision{Do: Delete, Policy: Foreground}},
		"a waiting owner, a leaf (GC-055)": {Item{Owners: owners(Waiting)},
			Decision{Do: Delete, Policy: Background}},
		"a waiting owner, with dependents (GC-054)": {Item{HasDependents: true, Owners: owners(Waiting)},
			Decision{Do: Delete, Policy: Foreground}},
		"foreground overrides its own orphan (GC-054)": {Item{Orphan: true, HasDependents: true,
			Owners: owners(Waiting, Absent)}, Decision{Do: Delete, Policy: Foreground}},
		"a dependent that waits may be a cycle (GC-054)": {Item{HasDependents: true, DependentForeground: true,
			Owners: owners(Waiting)}, Decision{Do: Delete, Policy: Foreground, Unblock: true}},
		"solid and absent (GC-053)": {Item{Owners: owners(Solid, Absent, Waiting)},
			Decision{Do: RemoveOwnerRefs, RemoveOwnerRefs: []int{1, 2}}},
		"bad scope (GC-048)": {Item{Owners: owners(BadScope, Absent)}, Decision{Do: Unresolvable}},
		"unknown (GC-050)":   {Item{Owners: owners(Absent, Unknown)}, Decision{Do: Unresolvable}},
		"unknown beside solid freezes it all (GC-051)": {Item{Owners: owners(Solid, Absent, Unknown)},
			Decision{Do: Unresolvable}},
	} {
		if diff := cmp.Diff(test.want, Decide(test.item, Upstream)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestDecideEveryReference: RO-006 keeps what has a solid owner, and strips what is proven gone,
// whatever else cannot be judged.
func TestDecideEveryReference(t *testing.T) {
	for name, test := range map[string]struct {
		owners []OwnerState
		want   Decision
	}{
		"solid and unknown": {[]OwnerState{Unknown, Solid}, Decision{}},
		"solid, absent and unknown": {[]OwnerState{Unknown, Solid, Absent},
			Decision{Do: RemoveOwnerRefs, RemoveOwnerRefs: []int{2}}},
		"absent and unknown":   {[]OwnerState{Absent, Unknown}, Decision{Do: Unresolvable}},
		"absent and bad scope": {[]OwnerState{Absent, BadScope}, Decision{Do: Unresolvable}},
		"absent and orphaning": {[]OwnerState{Absent, Orphaning}, Decision{Do: Later}},
		"solid and orphaning":  {[]OwnerState{Solid, Orphaning, Absent}, Decision{Do: Later}},
	} {
		if diff := cmp.Diff(test.want, Decide(Item{Owners: test.owners}, Loop)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestDecideNeverDeletesWithoutProof checks P-01 for every combination of up to four references:
// what has a solid owner, or one that could not be judged, is never deleted.
func TestDecideNeverDeletesWithoutProof_P01(t *testing.T) {
	states := []OwnerState{Solid, Waiting, Absent, Replaced, Mismatch, BadScope, Orphaning, Unknown}
	var visit func([]OwnerState)
	visit = func(owners []OwnerState) {
		proven := len(owners) > 0
		for _, s := range owners {
			proven = proven && s != Solid && s != Orphaning && !s.unresolved()
		}
		for _, rules := range []Rules{Upstream, Loop} {
			for flags := range 16 {
				item := Item{Owners: owners, Orphan: flags&1 != 0, Foreground: flags&2 != 0, HasDependents: flags&4 != 0,
					DependentForeground: flags&8 != 0}
				if v := Decide(item, rules); (v.Do == Delete) != proven {
					t.Fatalf("Decide(%+v, %d) = %+v; every owner gone or waiting: %t", item, rules, v, proven)
				}
			}
		}
		if len(owners) < 4 {
			for _, s := range states {
				visit(append(owners[:len(owners):len(owners)], s))
			}
		}
	}
	visit(nil)
}
