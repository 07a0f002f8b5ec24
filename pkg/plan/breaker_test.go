package plan

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// massOf plans a run over replica sets, here secrets, of Deployments, here config maps: some are
// gone, each with a replica set and pods, and some alive.
func massOf(t *testing.T, gone, podsEach, alive int) (*Plan, string) {
	s := newSmall(t)
	for i := range alive {
		s.add(configMaps, fmt.Sprintf("alive%d", i))
		s.add(secrets, fmt.Sprintf("set-of-alive%d", i), to(configMaps, fmt.Sprintf("alive%d", i)))
	}
	for i := range gone {
		set := fmt.Sprintf("set%d", i)
		s.add(secrets, set, to(configMaps, fmt.Sprintf("gone%d", i)))
		for j := range podsEach {
			s.add(pods, fmt.Sprintf("%s-%d", set, j), to(secrets, set))
		}
	}
	p := s.run(Options{})
	words := ""
	for _, m := range p.OwnerLosses(nil) {
		words += fmt.Sprintf("%s gone %d alive %d dependents %d", m.Kind, m.Absent, m.Alive, m.Dependents)
	}
	return p, words
}

// TestBreakerCountsDependentsToTheEndOfTheCascade: few owners are an owner loss if much would be
// deleted, and one owner never is.
func TestBreakerCountsDependentsToTheEndOfTheCascade(t *testing.T) {
	for name, c := range map[string]struct {
		gone, podsEach, alive int
		want                  string
	}{
		"one owner with 500 pods":  {gone: 1, podsEach: 500},
		"one owner with thousands": {gone: 1, podsEach: 3000},
		"two large owners":         {gone: 2, podsEach: 1000},
		"nine owners with ten thousand dependents": {gone: 9, podsEach: 1111,
			want: "ConfigMap gone 9 alive 0 dependents 10008"},
		"one living owner does not switch it off": {gone: 9, podsEach: 1111, alive: 1,
			want: "ConfigMap gone 9 alive 1 dependents 10008"},
		"three of many, with thousands":     {gone: 3, podsEach: 1000, alive: 3},
		"nine owners with a few dependents": {gone: 9, podsEach: 3},
		"eighteen of twenty, with hardly any dependent": {gone: 18, alive: 2,
			want: "ConfigMap gone 18 alive 2 dependents 18"},
	} {
		if _, got := massOf(t, c.gone, c.podsEach, c.alive); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestBreakerDoesNotCountOwnersWhoseDeletionIsKnown: those that an agreed plan deletes, or that
// were seen to be deleted.
func TestBreakerDoesNotCountOwnersWhoseDeletionIsKnown(t *testing.T) {
	p, _ := massOf(t, 20, 1, 0)
	known := 0
	if losses := p.OwnerLosses(func(uid string) bool { known++; return true }); len(losses) > 0 || known == 0 {
		t.Errorf("masses %+v after %d questions", losses, known)
	}
	if losses := p.OwnerLosses(func(uid string) bool { return uid > "gone1z" }); len(losses) != 1 ||
		losses[0].Absent != 12 {
		t.Errorf("masses %+v, want of the twelve that are not known", losses)
	}
}

// TestBreakerCountsWhatIsWrittenTo: an owner whose dependents may not be written to is no part of
// an owner loss, and one that lives anywhere counts as alive.
func TestBreakerCountsWhatIsWrittenTo(t *testing.T) {
	s := newSmall(t)
	for i := range 20 {
		s.add(secrets, fmt.Sprintf("of%d", i), to(configMaps, fmt.Sprintf("gone%d", i)))
	}
	g := s.plan(Background).Graph
	may := func(n int) func(graph.ID) bool {
		return func(id graph.ID) bool { return g.Ref(id).Name < fmt.Sprintf("of%d", n) }
	}
	if losses := NewRun(g, Options{Allow: may(15)}).OwnerLosses(nil); len(losses) > 0 { // of0, of1, of10 to of14
		t.Errorf("masses %+v", losses)
	}
	if losses := NewRun(g, Options{}).OwnerLosses(nil); len(losses) != 1 || losses[0].Absent != 20 {
		t.Errorf("masses %+v", losses)
	}
}

// TestBreakerCountsOwnersWhoseReferencesAreRemoved: a restored object that another owner keeps
// loses what its backup said.
func TestBreakerCountsOwnersWhoseReferencesAreRemoved(t *testing.T) {
	s := newSmall(t)
	s.add(secrets, "keeps")
	for i := range 12 {
		s.add(pods, fmt.Sprintf("pod%d", i), to(configMaps, fmt.Sprintf("gone%d", i)), to(secrets, "keeps"))
	}
	losses := s.run(Options{}).OwnerLosses(nil)
	if len(losses) != 1 || losses[0] != (OwnerLoss{Kind: "ConfigMap", Absent: 12}) {
		t.Errorf("masses %+v", losses)
	}
}

// TestBreakerAddsWhatWasLostEarlier: owners that were lost a little before count with those of the
// plan, once, and only if the plan has any of their kind.
func TestBreakerAddsWhatWasLostEarlier(t *testing.T) {
	p, _ := massOf(t, 4, 1, 0)
	lost := p.LostOwners(nil)
	if len(lost) != 4 || lost[0] != (LostOwner{Kind: "ConfigMap", UID: "gone0"}) {
		t.Fatalf("lost %+v", lost)
	}
	var earlier []LostOwner
	for i := range 6 {
		earlier = append(earlier, LostOwner{Kind: "ConfigMap", UID: fmt.Sprintf("before%d", i)},
			LostOwner{Kind: "Deployment", Group: "apps", UID: fmt.Sprintf("other%d", i), Replaced: true})
	}
	if losses := p.OwnerLosses(nil, append(lost, earlier[:10]...)...); len(losses) > 0 {
		t.Errorf("masses %+v of nine", losses)
	}
	if losses := p.OwnerLosses(nil, append(lost, earlier...)...); len(losses) != 1 || losses[0].Absent != 10 {
		t.Errorf("masses %+v, want one of ten", losses)
	}
}
