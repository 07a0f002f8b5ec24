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
		want Verdict
	}{
		"GC-045 no references":                         {Item{}, Verdict{}},
		"GC-042 already being deleted":                 {Item{Deleting: true, Owners: owners(Absent)}, Verdict{}},
		"GC-046 solid":                                 {Item{Owners: owners(Solid)}, Verdict{}},
		"GC-055 absent":                                {Item{Owners: owners(Absent)}, Verdict{Do: Delete, Policy: Background}},
		"GC-055 replaced and mismatched":               {Item{Owners: owners(Replaced, Mismatch)}, Verdict{Do: Delete, Policy: Background}},
		"GC-055 its own orphan finalizer counts":       {Item{Orphan: true, Owners: owners(Absent)}, Verdict{Do: Delete, Policy: Orphan}},
		"GC-055 its own foreground finalizer counts":   {Item{Foreground: true, Owners: owners(Absent)}, Verdict{Do: Delete, Policy: Foreground}},
		"GC-055 a waiting owner, a leaf":               {Item{Owners: owners(Waiting)}, Verdict{Do: Delete, Policy: Background}},
		"GC-054 a waiting owner, with dependents":      {Item{HasDependents: true, Owners: owners(Waiting)}, Verdict{Do: Delete, Policy: Foreground}},
		"GC-054 foreground overrides its own orphan":   {Item{Orphan: true, HasDependents: true, Owners: owners(Waiting, Absent)}, Verdict{Do: Delete, Policy: Foreground}},
		"GC-054 a dependent that waits may be a cycle": {Item{HasDependents: true, DependentForeground: true, Owners: owners(Waiting)}, Verdict{Do: Delete, Policy: Foreground, Unblock: true}},
		"GC-053 solid and absent":                      {Item{Owners: owners(Solid, Absent, Waiting)}, Verdict{Do: Strip, Strip: []int{1, 2}}},
		"GC-048 bad scope":                             {Item{Owners: owners(BadScope, Absent)}, Verdict{Do: Frozen}},
		"GC-050 unknown":                               {Item{Owners: owners(Absent, Unknown)}, Verdict{Do: Frozen}},
		"GC-051 unknown beside solid freezes it all":   {Item{Owners: owners(Solid, Absent, Unknown)}, Verdict{Do: Frozen}},
	} {
		if diff := cmp.Diff(test.want, Decide(test.item, Upstream)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestDecideEveryReference: RO-006 keeps what has a solid owner, and strips what is proven gone, whatever else cannot be judged.
func TestDecideEveryReference(t *testing.T) {
	for name, test := range map[string]struct {
		owners []OwnerState
		want   Verdict
	}{
		"solid and unknown":         {[]OwnerState{Unknown, Solid}, Verdict{}},
		"solid, absent and unknown": {[]OwnerState{Unknown, Solid, Absent}, Verdict{Do: Strip, Strip: []int{2}}},
		"absent and unknown":        {[]OwnerState{Absent, Unknown}, Verdict{Do: Frozen}},
		"absent and bad scope":      {[]OwnerState{Absent, BadScope}, Verdict{Do: Frozen}},
		"absent and orphaning":      {[]OwnerState{Absent, Orphaning}, Verdict{Do: Later}},
		"solid and orphaning":       {[]OwnerState{Solid, Orphaning, Absent}, Verdict{Do: Later}},
	} {
		if diff := cmp.Diff(test.want, Decide(Item{Owners: test.owners}, Loop)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestDecideNeverDeletesWithoutProof is P-01 over every combination of up to four references: what has a solid owner, or one that could
// not be judged, is never deleted.
func TestP01DecideNeverDeletesWithoutProof(t *testing.T) {
	states := []OwnerState{Solid, Waiting, Absent, Replaced, Mismatch, BadScope, Orphaning, Unknown}
	var visit func([]OwnerState)
	visit = func(owners []OwnerState) {
		proven := len(owners) > 0
		for _, s := range owners {
			proven = proven && s != Solid && s != Orphaning && !s.unresolved()
		}
		for _, rules := range []Rules{Upstream, Loop} {
			for flags := range 16 {
				item := Item{Owners: owners, Orphan: flags&1 != 0, Foreground: flags&2 != 0, HasDependents: flags&4 != 0, DependentForeground: flags&8 != 0}
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
