package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// being makes an object be deleted, with these finalizers.
func being(o *graph.Object, finalizers ...string) {
	o.DeletionTimestamp, o.Finalizers = 1, finalizers
}

// run plans a run of the loop over the cluster.
func (s *small) run(opts Options) *Plan {
	s.t.Helper()
	return NewRun(s.plan(Background).Graph, opts)
}

// said are the actions of a plan, in words.
func said(p *Plan) []string {
	var lines []string
	for _, a := range p.Actions {
		line := fmt.Sprintf("%d %s %s %s", a.Wave, a.Verb, p.Graph.Ref(a.Object).Name, a.Policy)
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func wantSaid(t *testing.T, p *Plan, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, said(p)); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}

// TestRunGoesToTheEnd: what one wave brings about the next reacts to, down to where somebody else
// holds.
func TestRunGoesToTheEnd(t *testing.T) {
	s := newSmall(t)
	s.add(configMaps, "middle", to(configMaps, "nobody"))
	s.add(configMaps, "leaf", to(configMaps, "middle"))
	s.add(secrets, "held", to(configMaps, "nobody")).Finalizers = []string{"example.com/hold"}
	s.add(secrets, "below", to(secrets, "held"))
	s.add(configMaps, "alive")
	s.add(configMaps, "kept", to(configMaps, "alive"), to(configMaps, "nobody"))
	p := s.run(Options{})
	wantSaid(t, p, "1 orphan kept", "1 delete middle Background", "1 delete held Background", "2 delete leaf Background")
	if got := names(p.Graph, p.Deleted); got != "leaf middle" {
		t.Errorf("deleted %s", got)
	}
	left := map[string]ReasonCode{}
	for _, r := range p.End().NotDeleted(nil) {
		left[p.Graph.Ref(r.Object).Name] = r.Because.Code
	}
	if diff := cmp.Diff(map[string]ReasonCode{"held": ForeignFinalizers}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	var remaining []graph.ID
	for _, r := range p.Blocked {
		remaining = append(remaining, r.Object)
	}
	if got := names(p.Graph, remaining); got != "below held" {
		t.Errorf("remaining %s, want what goes once the finalizer is off", got)
	}
}

// TestPlanIsAboutWhatMayBeWrittenTo_P19: what is outside is neither done nor counted as left.
func TestPlanIsAboutWhatMayBeWrittenTo_P19(t *testing.T) {
	s := newSmall(t)
	s.add(secrets, "inside", to(configMaps, "nobody"))
	s.add(roles, "outside", to(configMaps, "nobody"))
	g := s.plan(Background).Graph
	p := NewRun(g, Options{Allow: func(id graph.ID) bool { return g.Ref(id).Namespace == "ns" }})
	wantSaid(t, p, "1 delete inside Background")
	if len(p.Kept) > 0 {
		t.Errorf("%d survivors, want none", len(p.Kept))
	}
}

// TestRunFinishesOwnersThatWait: those that were deleted before, in the foreground and with
// orphaning.
func TestRunFinishesOwnersThatWait(t *testing.T) {
	s := newSmall(t)
	being(s.add(configMaps, "waits"), ForegroundFinalizer)
	s.add(secrets, "child", block(configMaps, "waits"))
	being(s.add(configMaps, "orphans"), OrphanFinalizer)
	s.add(secrets, "spared", to(configMaps, "orphans"))
	wantSaid(t, s.run(Options{}), "1 delete child Background", "1 orphan spared", "2 removeFinalizer orphans",
		"2 removeFinalizer waits")
}

// TestGapKeepsFinalizers_X05: a dependent may be in it, so neither owner is let go; what is seen is
// done all the same.
func TestGapKeepsFinalizers_X05(t *testing.T) {
	s := newSmall(t)
	being(s.add(configMaps, "waits"), ForegroundFinalizer)
	being(s.add(configMaps, "orphans"), OrphanFinalizer)
	s.add(secrets, "spared", to(configMaps, "orphans"))
	gap := v1alpha1.Gap{Resource: "pods", Reason: v1alpha1.GapForbidden}
	wantSaid(t, s.run(Options{Gaps: []v1alpha1.Gap{gap}}), "1 orphan spared")
	gap.Namespace = "elsewhere"
	wantSaid(t, s.run(Options{Gaps: []v1alpha1.Gap{gap}}), "1 orphan spared", "2 removeFinalizer orphans",
		"2 removeFinalizer waits")
}

// TestDeadlocksAreBrokenWhenTold_X12: all members of a cycle wait for each other.
func TestDeadlocksAreBrokenWhenTold_X12(t *testing.T) {
	s := newSmall(t)
	being(s.add(configMaps, "a", block(configMaps, "c")), ForegroundFinalizer)
	being(s.add(configMaps, "b", block(configMaps, "a")), ForegroundFinalizer)
	being(s.add(configMaps, "c", block(configMaps, "b")), ForegroundFinalizer)
	if p := s.run(Options{}); len(p.Actions) > 0 || len(p.Deadlocked) != 3 {
		t.Errorf("without being told: %v, %d stuck", said(p), len(p.Deadlocked))
	}
	p := s.run(Options{Overrides: Overrides{BreakDeadlocks: true}})
	if got := names(p.Graph, p.Deleted); got != "a b c" || p.Actions[0].Verb != VerbUnblock {
		t.Errorf("deleted %s by %v", got, said(p))
	}
	if p := s.run(Options{Overrides: Overrides{BreakDeadlocks: true},
		Allow: func(graph.ID) bool { return false }}); len(p.Actions) > 0 {
		t.Errorf("what may not be written to was: %v", said(p))
	}
}

// TestKeptMismatchesAndKindsThatAreGone_X01_X03: mismatched owners are held, and kinds that are not
// served are gone, if the terms say so.
func TestKeptMismatchesAndKindsThatAreGone_X01_X03(t *testing.T) {
	s := newSmall(t)
	s.add(configMaps, "alive")
	s.add(secrets, "mismatched", as(to(configMaps, "alive"), configMaps, "other"))
	s.add(secrets, "odd", graph.OwnerReference{APIVersion: "unheard.example.com/v1", Kind: "Thing", Name: "x", UID: "x"})
	wantSaid(t, s.run(Options{}), "1 delete mismatched Background")
	wantSaid(t, s.run(Options{Overrides: Overrides{KeepMismatched: true,
		UnservedKinds: map[[2]string]bool{{"unheard.example.com/v1", "Thing"}: true}}}), "1 delete odd Background")
}

// TestProvenCountsMoreThanTheListing: an owner that a live read has found keeps its dependent,
// whatever the list said.
func TestProvenCountsMoreThanTheListing(t *testing.T) {
	s := newSmall(t)
	s.add(secrets, "child", to(configMaps, "late"))
	g := s.plan(Background).Graph
	index := -1
	for e := range g.Owners(lookup(t, g, "child")[0]) {
		index = e.Index
	}
	for state, want := range map[OwnerState]int{Absent: 1, Replaced: 1, Solid: 0, Unknown: 0} {
		if p := NewRun(g, Options{Proven: map[int]OwnerState{index: state}}); len(p.Actions) != want {
			t.Errorf("state %d: %v", state, said(p))
		}
	}
}

// TestKindsThatLostMostOwners_P18: a kind of owner that is gone all at once is told of, and one of
// which some are gone is not.
func TestKindsThatLostMostOwners_P18(t *testing.T) {
	for name, c := range map[string]struct {
		gone, replaced, alive int
		want                  string
	}{
		"some leftovers":                  {gone: 9, alive: 0},
		"many, and none alive":            {gone: 10, want: "ConfigMap 10 0 0"},
		"many, and one alive":             {gone: 50, alive: 1, want: "ConfigMap 50 0 1"},
		"nine of ten":                     {gone: 18, alive: 2, want: "ConfigMap 18 0 2"},
		"many, and some alive":            {gone: 17, alive: 2},
		"Jobs of some days, and of today": {gone: 30, alive: 4},
		"a restored backup":               {replaced: 3, want: "ConfigMap 0 3 0"},
		"a restored backup, a new object": {replaced: 4, alive: 3, want: "ConfigMap 0 4 3"},
		"two created again":               {replaced: 2, alive: 0},
		"created again now and then":      {replaced: 3, alive: 3},
	} {
		s := newSmall(t)
		for i := range c.alive {
			s.add(configMaps, fmt.Sprintf("alive%d", i))
		}
		add := func(kind string, n int) {
			for i := range n {
				owner := fmt.Sprintf("%s%d", kind, i)
				s.add(secrets, "of-"+owner, to(configMaps, owner))
			}
		}
		add("gone", c.gone)
		add("replaced", c.replaced)
		add("alive", c.alive)
		g := s.plan(Background).Graph
		proven := map[int]OwnerState{}
		for i := range c.replaced {
			for e := range g.Owners(lookup(t, g, fmt.Sprintf("of-replaced%d", i))[0]) {
				proven[e.Index] = Replaced
			}
		}
		var got []string
		for _, m := range NewRun(g, Options{Proven: proven}).OwnerLosses(nil) {
			got = append(got, fmt.Sprintf("%s %d %d %d", m.Kind, m.Absent, m.Replaced, m.Alive))
		}
		if strings.Join(got, ";") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestProjectionCountsBlockers: the count that is kept is the count that there is, whatever happens
// in which order.
func TestProjectionCountsBlockers(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		s := newSmall(t)
		for i := range 12 {
			var refs []graph.OwnerReference
			for j := range 12 {
				if rng.IntN(4) == 0 {
					r := to(configMaps, fmt.Sprintf("o%d", j))
					r.Block = rng.IntN(2) == 0
					refs = append(refs, r)
				}
			}
			s.add(configMaps, fmt.Sprintf("o%d", i), refs...)
		}
		g := s.plan(Background).Graph
		o := NewProjection(g, Options{})
		for range 40 {
			id := graph.ID(rng.IntN(g.Len()))
			o.Blockers(graph.ID(rng.IntN(g.Len())))
			refs := slices.Collect(o.Owners(id))
			switch rng.IntN(4) {
			case 0:
				o.Removed(id)
			case 1:
				if len(refs) > 0 && !o.Gone(id) {
					o.OwnerRefRemoved(refs[rng.IntN(len(refs))])
				}
			case 2:
				if len(refs) > 0 && !o.Gone(id) {
					o.Unblocked(refs[rng.IntN(len(refs))])
				}
			case 3:
				o.Delete(id, Foreground)
			}
		}
		for i := range g.Len() {
			n := 0
			for e := range o.Dependents(graph.ID(i)) {
				if o.Blocks(e) {
					n++
				}
			}
			if got := o.Blockers(graph.ID(i)); got != n {
				t.Fatalf("seed %d: %d blockers counted, there are %d", seed, got, n)
			}
		}
	}
}

// TestRunReleasesBeforeItJudges: an owner that waits to orphan its dependents, or is going to,
// removes its uid from them, whatever else their references say. What is judged before that would
// be deleted.
func TestRunReleasesBeforeItJudges(t *testing.T) {
	s := newSmall(t)
	being(s.add(configMaps, "o"), OrphanFinalizer)
	s.add(configMaps, "a", as(to(configMaps, "o"), configMaps, "other"))
	s.add(configMaps, "b", as(to(configMaps, "o"), secrets, "o"), to(configMaps, "nobody"))
	s.add(configMaps, "c", to(configMaps, "o"), to(configMaps, "nobody"))
	s.add(secrets, "p", to(configMaps, "nobody")).Finalizers = []string{OrphanFinalizer}
	s.add(secrets, "d", as(to(secrets, "p"), secrets, "other"))
	p := s.run(Options{})
	if got := names(p.Graph, p.Deleted); got != "b o p" {
		t.Errorf("deleted %s, want b o p", got)
	}
	wantReason(t, p, "d", OwnerOrphans, "p")
	// What may not be released is not judged.
	g := p.Graph
	p = NewRun(g, Options{Allow: func(id graph.ID) bool { return g.Ref(id).Name != "o" }})
	if got := names(g, p.Deleted); got != "p" {
		t.Errorf("deleted %s, want only p", got)
	}
}

// TestRunJudgesWhatAnOwnerThatStaysSeemsToHaveLost: an owner carries the finalizer orphan, and
// whoever refers to it under another name does not wait for what is never going to come: it has an
// owner that lives, or one that nobody can judge.
func TestRunJudgesWhatAnOwnerThatStaysSeemsToHaveLost(t *testing.T) {
	s := newSmall(t)
	s.add(secrets, "lives")
	s.add(configMaps, "o", to(secrets, "lives"), to(configMaps, "nobody")).Finalizers = []string{OrphanFinalizer}
	s.add(configMaps, "a", as(to(configMaps, "o"), configMaps, "other"))
	s.add(roles, "r", to(secrets, "lives")).Finalizers = []string{OrphanFinalizer}
	s.add(configMaps, "b", as(to(roles, "r"), configMaps, "other"))
	p := s.run(Options{})
	if got := names(p.Graph, p.Deleted); got != "a b" {
		t.Errorf("deleted %s, want a b", got)
	}
}
