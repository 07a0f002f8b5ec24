package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// ongoing plans how deletions end that have begun.
func (s *tied) ongoing(roots ...string) *Plan {
	s.t.Helper()
	g, links := s.build()
	return NewOngoing(g, lookup(s.t, g, roots...), Options{Links: links})
}

func wantKept(t *testing.T, p *Plan, want string) {
	t.Helper()
	var kept []graph.ID
	for _, k := range p.Kept {
		kept = append(kept, k.Object)
	}
	if got := names(p.Graph, kept); got != want {
		t.Errorf("kept %q, want %q", got, want)
	}
}

// family is an owner with a dependent that blocks, one that does not, one that another owns too,
// and a dependent below.
func family(t *testing.T) *tied {
	s := newTied(t)
	s.add(configMaps, "owner")
	s.add(configMaps, "other")
	s.add(secrets, "blocking", block(configMaps, "owner"))
	s.add(secrets, "loose", to(configMaps, "owner"))
	s.add(secrets, "shared", to(configMaps, "owner"), to(configMaps, "other"))
	s.add(secrets, "below", to(secrets, "blocking"))
	return s
}

func TestAnOngoingDeletionFollowsTheFinalizersOfItsPolicy(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		finalizers []string
		deleted    string
	}{
		{"foreground", []string{ForegroundFinalizer}, "below blocking loose owner"},
		{"orphan", []string{OrphanFinalizer}, "owner"},
		{"background, kept by a finalizer", []string{"example.com/hold"}, "below blocking loose owner"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := family(t)
			being(&s.objects[configMaps][0], tt.finalizers...)
			p := s.ongoing("owner")
			wantDeleted(t, p, tt.deleted)
			wantKept(t, p, "")
		})
	}
}

func TestWhatNothingTakesAlongIsKept(t *testing.T) {
	t.Parallel()
	s := family(t)
	being(&s.objects[configMaps][0], ForegroundFinalizer)
	p := s.ongoing("owner", "other", "shared")
	wantDeleted(t, p, "below blocking loose owner")
	wantKept(t, p, "other shared")
	wantReason(t, p, "shared", OwnedByAnother, "other")
}

func TestADependentGoesBecauseItsOwnerIsBeingDeleted(t *testing.T) {
	t.Parallel()
	s := family(t)
	being(&s.objects[configMaps][0], ForegroundFinalizer)
	p := s.ongoing("blocking")
	wantDeleted(t, p, "below blocking")
	wantReason(t, p, "blocking", OwnerWaiting, "owner")
}

func TestTheRestOfACascadeIsFoundByTheOwnerThatIsGone(t *testing.T) {
	t.Parallel()
	s := newTied(t)
	s.add(secrets, "left", to(configMaps, "gone"))
	s.add(secrets, "below", to(secrets, "left"))
	s.add(secrets, "stranger", to(configMaps, "others"))
	p := s.ongoing("gone")
	wantDeleted(t, p, "below left")
	wantKept(t, p, "")
}

func TestTheContentOfANamespaceThatIsBeingDeletedGoes(t *testing.T) {
	t.Parallel()
	s := family(t)
	being(s.add(nsType, "ns"))
	p := s.ongoing("other")
	wantDeleted(t, p, "other shared")
	wantReason(t, p, "other", Content, "ns")
	wantDeleted(t, s.ongoing("ns"), "below blocking loose ns other owner shared")
}

func TestACompositeGoesWithAClaimThatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"Background", "Foreground"} {
		s := newTied(t)
		s.claim(policy, claimFinalizer)
		being(&s.objects[databases][0], claimFinalizer)
		wantDeleted(t, s.ongoing("claim"), "claim composed composite")
		wantDeleted(t, s.ongoing("composite"), "composed composite")
	}
}

func TestARingThatWaitsForItselfIsDeadlocked(t *testing.T) {
	t.Parallel()
	s := newTied(t)
	being(s.add(configMaps, "a", block(configMaps, "b")), ForegroundFinalizer)
	being(s.add(configMaps, "b", block(configMaps, "a")), ForegroundFinalizer)
	p := s.ongoing("a")
	wantKept(t, p, "")
	if len(p.Deleted) != 0 || len(p.Deadlocked) != 2 {
		t.Errorf("deleted %q, deadlocked %v", names(p.Graph, p.Deleted), p.Deadlocked)
	}
}

// TestADeletionThatHasBegunEndsAsItWasPlanned: right after its delete was sent, an object that a
// finalizer keeps has the cascade that the plan of the delete said.
func TestADeletionThatHasBegunEndsAsItWasPlanned(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		policy := []Policy{Background, Foreground, Orphan}[rng.IntN(3)]
		s := randomFamily(t, rng)
		before := s.plan(policy, "o0")
		if before.DependsOnTiming {
			continue
		}
		finalizers := map[Policy][]string{Foreground: {ForegroundFinalizer}, Orphan: {OrphanFinalizer}}[policy]
		being(&s.objects[configMaps][0], append(finalizers, "example.com/hold")...)
		after := s.ongoing("o0")
		if got, want := names(after.Graph, after.Deleted), names(before.Graph, before.Deleted); got != want {
			t.Errorf("seed %d, %s: goes %q, planned %q", seed, policy, got, want)
		}
	}
}

// randomFamily is a cluster of objects each of which may be owned by earlier ones.
func randomFamily(t *testing.T, rng *rand.Rand) *tied {
	s := newTied(t)
	for i := range 8 {
		var owners []graph.OwnerReference
		for j := range i {
			if rng.IntN(4) == 0 {
				r := to(configMaps, fmt.Sprintf("o%d", j))
				r.Block = rng.IntN(2) == 0
				owners = append(owners, r)
			}
		}
		o := s.add(configMaps, fmt.Sprintf("o%d", i), owners...)
		if i == 0 || rng.IntN(6) == 0 {
			o.Finalizers = []string{"example.com/hold"}
		}
	}
	return s
}
