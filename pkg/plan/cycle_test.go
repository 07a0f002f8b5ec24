package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

func rings(p *Plan) string {
	var all []string
	for _, cycle := range p.Cycles {
		var members []string
		for _, id := range cycle {
			members = append(members, p.Graph.Ref(id).Name)
		}
		all = append(all, strings.Join(members, ">"))
	}
	return strings.Join(all, " ")
}

// unserved is a reference that the collector cannot judge (GC-050): what has it is never deleted.
var unserved = graph.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: "w", UID: "w"}

// TestShortCycles_GC064: what waits for itself is found, and what only waits for that is not a
// member.
func TestShortCycles_GC064(t *testing.T) {
	for name, test := range map[string]struct {
		owners map[string][]graph.OwnerReference
		roots  []string
		policy Policy
		want   string
	}{
		"self reference": {map[string][]graph.OwnerReference{"a": {block(configMaps, "a")}}, []string{"a"},
			Foreground, "a"},
		"self reference, not blocking": {map[string][]graph.OwnerReference{"a": {to(configMaps, "a")}}, []string{"a"},
			Foreground, ""},
		"self reference, background": {map[string][]graph.OwnerReference{"a": {block(configMaps, "a")}}, []string{"a"},
			Background, ""},
		"every member of two": {map[string][]graph.OwnerReference{
			"a": {block(configMaps, "b")}, "b": {block(configMaps, "a")},
		}, []string{"a", "b"}, Foreground, "a>b"},
		"every member of three": {map[string][]graph.OwnerReference{
			"a": {block(configMaps, "c")}, "b": {block(configMaps, "a")}, "c": {block(configMaps, "b")},
		}, []string{"a", "b", "c"}, Foreground, "a>b>c"},
		"one member, which the collector unblocks": {map[string][]graph.OwnerReference{
			"a": {block(configMaps, "b")}, "b": {block(configMaps, "a")},
		}, []string{"a"}, Foreground, ""},
		"an owner above waits for it": {map[string][]graph.OwnerReference{
			"a": {block(configMaps, "a"), block(configMaps, "top")}, "top": nil,
		}, []string{"top", "a"}, Foreground, "a"},
		"unblocked by the collector, and stuck for another reason": {map[string][]graph.OwnerReference{
			"a": {block(configMaps, "b")}, "b": {block(configMaps, "a")}, "c": {block(configMaps, "a"), unserved},
		}, []string{"a"}, Foreground, ""},
		"closed by a reference that does not block": {map[string][]graph.OwnerReference{
			"a": {to(configMaps, "b")}, "b": {block(configMaps, "a")},
			"c": {block(configMaps, "a"), unserved}, "x": {block(configMaps, "b"), unserved},
		}, []string{"a", "b"}, Foreground, ""},
		"closed by one that is not deleted": {map[string][]graph.OwnerReference{
			"a": {block(configMaps, "c")}, "c": {block(configMaps, "a"), unserved},
		}, []string{"a"}, Foreground, ""},
		"two of them": {map[string][]graph.OwnerReference{
			"a": {block(configMaps, "b")}, "b": {block(configMaps, "a")}, "x": {block(configMaps, "x")},
		}, []string{"a", "b", "x"}, Foreground, "a>b x"},
	} {
		s := newSmall(t)
		for _, object := range []string{"a", "b", "c", "top", "x"} {
			if owners, ok := test.owners[object]; ok {
				s.add(configMaps, object, owners...)
			}
		}
		p := s.plan(test.policy, test.roots...)
		if _, unjudged := test.owners["c"]; unjudged && len(p.Deadlocked) == 0 {
			t.Errorf("%s: nothing is stuck, so this shows nothing", name)
		}
		if got := rings(p); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		for _, survivor := range p.Deadlocked {
			member := strings.Contains(strings.ReplaceAll(test.want, " ", ">")+">", p.Graph.Ref(survivor.Object).Name+">")
			if (survivor.Because.Code == ForegroundCycle) != member {
				t.Errorf("%s: %s is stuck because of %s", name, p.Graph.Ref(survivor.Object).Name, survivor.Because.Code)
			}
		}
	}
}

// TestLongCycle_GC064: a ring of a thousand is found whole, in its order.
func TestLongCycle_GC064(t *testing.T) {
	const n = 1000
	s := newSmall(t)
	var roots []string
	for i := range n {
		name := fmt.Sprintf("o%04d", i)
		s.add(configMaps, name, block(configMaps, fmt.Sprintf("o%04d", (i+n-1)%n)))
		roots = append(roots, name)
	}
	p := s.plan(Foreground, roots...)
	if len(p.Cycles) != 1 || len(p.Cycles[0]) != n {
		t.Fatalf("%d cycles, want one of %d", len(p.Cycles), n)
	}
	for i, id := range p.Cycles[0] {
		if got, want := p.Graph.Ref(id).Name, fmt.Sprintf("o%04d", i); got != want {
			t.Fatalf("member %d is %s, want %s", i, got, want)
		}
	}
}

// TestCycleThatTheCollectorMayBreak_GC064: a cycle whose members are still to be deleted depends on
// timing; one that waits already, and one of a single object, does not.
func TestCycleThatTheCollectorMayBreak_GC064(t *testing.T) {
	ring := func(waiting bool) *Plan {
		s := newSmall(t)
		for name, owner := range map[string]string{"a": "b", "b": "a"} {
			o := s.add(configMaps, name, block(configMaps, owner))
			if waiting {
				o.DeletionTimestamp, o.Finalizers = 1, []string{ForegroundFinalizer}
			}
		}
		return s.plan(Foreground, "a", "b")
	}
	if p := ring(false); len(p.Cycles) != 1 || !p.DependsOnTiming {
		t.Errorf("to be deleted: %d cycles, depends on timing: %t; want 1, true", len(p.Cycles), p.DependsOnTiming)
	}
	if p := ring(true); len(p.Cycles) != 1 || p.DependsOnTiming {
		t.Errorf("waiting already: %d cycles, depends on timing: %t; want 1, false", len(p.Cycles), p.DependsOnTiming)
	}
	s := newSmall(t)
	s.add(configMaps, "self", block(configMaps, "self"))
	if p := s.plan(Foreground, "self"); len(p.Cycles) != 1 || p.DependsOnTiming {
		t.Errorf("a self reference: %d cycles, depends on timing: %t; want 1, false", len(p.Cycles), p.DependsOnTiming)
	}
}

// TestCycleElsewhere: one that is waiting already, and not below what is deleted, is not this
// plan's.
func TestCycleElsewhere(t *testing.T) {
	s := newSmall(t)
	s.add(configMaps, "root")
	o := s.add(configMaps, "self", block(configMaps, "self"))
	o.DeletionTimestamp, o.Finalizers = 1, []string{ForegroundFinalizer}
	if p := s.plan(Foreground, "root"); len(p.Cycles) != 0 {
		t.Errorf("cycles %v, want none", p.Cycles)
	}
}
