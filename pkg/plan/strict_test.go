package plan

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestStrict: with it each owner goes after all its dependents, without it the first does not wait
// for one. References of cycles are left alone, and so are those of what stays.
func TestStrict(t *testing.T) {
	for name, test := range map[string]struct {
		n      int
		owners map[int][]int
		block  []int // whose references are to block
	}{
		"a chain":          {n: 3, owners: map[int][]int{1: {0}, 2: {1}}, block: []int{1, 2}},
		"a diamond":        {n: 4, owners: map[int][]int{1: {0}, 2: {0}, 3: {1, 2}}, block: []int{1, 2, 3}},
		"itself":           {n: 2, owners: map[int][]int{0: {0}, 1: {0}}, block: []int{1}},
		"a cycle":          {n: 3, owners: map[int][]int{0: {1}, 1: {0}, 2: {1}}, block: []int{2}},
		"one with another": {n: 3, owners: map[int][]int{1: {0, 2}}},
	} {
		g, ids := owned(test.n, test.owners)
		p := New(g, ids[:1], Foreground, Options{Strict: true})
		var blocked []int
		gone := map[graph.ID]int{}
		for _, a := range p.Actions {
			if a.Verb == VerbBlock {
				blocked = append(blocked, slices.Index(ids, a.Object))
				if a.Wave != 0 || a.By != ByClient || len(a.Edges) != len(test.owners[blocked[len(blocked)-1]]) {
					t.Errorf("%s: %+v", name, a)
				}
			}
			gone[a.Object] = a.Wave
		}
		if !slices.Equal(blocked, test.block) {
			t.Errorf("%s: %v are to block, want %v", name, blocked, test.block)
		}
		if name == "a chain" && len(p.NonBlocking) > 0 {
			t.Errorf("%s: %v are said not to block", name, p.NonBlocking)
		}
		for _, i := range test.block {
			for _, owner := range test.owners[i] {
				if gone[ids[owner]] <= gone[ids[i]] {
					t.Errorf("%s: %d goes in wave %d and its dependent %d in %d", name, owner, gone[ids[owner]], i, gone[ids[i]])
				}
			}
		}
		if len(p.Deadlocked) > 0 && name != "itself" {
			t.Errorf("%s: stuck %v", name, p.Deadlocked)
		}
		for _, a := range New(g, ids[:1], Foreground, Options{}).Actions {
			if a.Verb == VerbBlock {
				t.Errorf("%s: %+v without being asked to", name, a)
			}
		}
	}
	g, ids := owned(2, map[int][]int{1: {0}})
	for strict, wait := range map[bool]int{false: 2, true: 3} {
		p := New(g, ids[:1], Foreground, Options{Strict: strict})
		for _, a := range p.Actions {
			if a.Verb == VerbRemoveFinalizer && a.Wave != wait {
				t.Errorf("strict %t: the owner goes in wave %d, want %d", strict, a.Wave, wait)
			}
		}
	}
}

// TestPropagatedGracePeriod: a dependent's own grace period is shortened, and not lengthened; that
// of a root is replaced (GC-056, API-018).
func TestPropagatedGracePeriod(t *testing.T) {
	g, ids := owned(3, map[int][]int{1: {0}, 2: {0}})
	pods := map[graph.ID]Pod{
		ids[0]: {Node: "n", GracePeriodSeconds: 5}, ids[1]: {Node: "n", GracePeriodSeconds: 5},
		ids[2]: {Node: "n", GracePeriodSeconds: 60},
	}
	requested := int64(20)
	for propagated, want := range map[bool][]int64{false: {20, 5, 60}, true: {20, 5, 20}} {
		p := New(g, ids[:1], Background, Options{})
		p.Learn(Details{Pods: pods, GracePeriodSeconds: &requested, Propagated: propagated})
		for i, id := range ids {
			if b, _ := p.Blocker(id); b.GracePeriodSeconds != want[i] {
				t.Errorf("propagated %t: %d may take %d s, want %d", propagated, i, b.GracePeriodSeconds, want[i])
			}
		}
	}
}
