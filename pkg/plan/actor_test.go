package plan

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// operated is a namespace with an operator, and a database whose finalizer it removes.
func operated(t *testing.T, owners ...graph.OwnerReference) *tied {
	t.Helper()
	s := newTied(t)
	s.add(nsType, "ns")
	s.add(sets, "operator")
	s.add(pods, "pod", block(sets, "operator"))
	s.add(roles, "role")
	s.add(configMaps, "database", owners...).Finalizers = []string{"example.com/database"}
	s.add(secrets, "password", block(configMaps, "database"))
	return s
}

// stuckIn plans a deletion of roots in which one of the actors is needed for the database; each is
// the names of what it needs.
func stuckIn(t *testing.T, s *tied, policy Policy, roots []string, actors ...[]string) *Plan {
	t.Helper()
	g, links := s.build()
	database := lookup(t, g, "database")[0]
	var removers Removers
	for _, names := range actors {
		removers = append(removers, lookup(t, g, names...))
	}
	return New(g, lookup(t, g, roots...), policy, Options{Links: links}).With(Needs{database: {removers}})
}

// TestActorGoesWithWhatItReleases: then the object is stuck, and what waits for it.
func TestActorGoesWithWhatItReleases(t *testing.T) {
	for _, test := range []struct {
		scenario string
		policy   Policy
		roots    []string
		actors   [][]string
		stuck    string
		cause    string
	}{
		{"the workload goes", Background, []string{"database", "operator"}, [][]string{{"operator"}}, "database", "operator"},
		{"its role goes", Background, []string{"database", "role"}, [][]string{{"operator", "role"}}, "database", "role"},
		{"in the foreground", Foreground, []string{"database", "operator"}, [][]string{{"operator", "role"}}, "database",
			"operator"},
		{"another is left", Background, []string{"database", "operator"}, [][]string{{"operator"}, {"role"}}, "", ""},
		{"all go", Background, []string{"database", "operator", "role"}, [][]string{{"operator"}, {"role"}}, "database",
			"operator"},
		{"nothing of it goes", Background, []string{"database"}, [][]string{{"operator", "role"}}, "", ""},
		{"nobody is known", Background, []string{"database", "operator"}, nil, "", ""},
	} {
		p := stuckIn(t, operated(t), test.policy, test.roots, test.actors...)
		var stuck []graph.ID
		for _, s := range p.Stuck() {
			stuck = append(stuck, s.Object)
		}
		if got := names(p.Graph, stuck); got != test.stuck {
			t.Errorf("%s: stuck are %q, want %q", test.scenario, got, test.stuck)
		}
		if test.stuck == "" {
			continue
		}
		if r := p.Stuck()[0].Because; r.Code != ActorDeleted || p.Graph.Name(r.Cause) != test.cause {
			t.Errorf("%s: because of %+v", test.scenario, r)
		}
		for _, id := range p.Deleted {
			if name := p.Graph.Name(id); name == "database" || test.policy == Background && name == "password" {
				t.Errorf("%s: %s is deleted", test.scenario, name)
			}
		}
	}
}

// TestActorGoesAfterWhatItReleases: an operator that the object owns goes when the object is gone.
func TestActorGoesAfterWhatItReleases(t *testing.T) {
	s := newTied(t)
	s.add(configMaps, "database").Finalizers = []string{"example.com/database"}
	s.add(sets, "operator", block(configMaps, "database"))
	if p := stuckIn(t, s, Background, []string{"database"}, []string{"operator"}); len(p.Stuck()) != 0 ||
		names(p.Graph, p.Deleted) != "database operator" {
		t.Errorf("stuck are %+v, deleted %s", p.Stuck(), names(p.Graph, p.Deleted))
	}
	if p := stuckIn(t, s, Foreground, []string{"database"}, []string{"operator"}); len(p.Stuck()) != 1 {
		t.Errorf("in the foreground its own dependent goes first; stuck are %+v", p.Stuck())
	}
}

// TestWhatWaitsForAStuckObjectIsStuck: its owner in the foreground, and the namespace.
func TestWhatWaitsForAStuckObjectIsStuck(t *testing.T) {
	s := operated(t, block(secrets, "owner"))
	s.add(secrets, "owner")
	for root, want := range map[string]string{"ns": "database ns", "owner": "database owner"} {
		roots := []string{root}
		if root == "owner" {
			roots = append(roots, "operator")
		}
		p := stuckIn(t, s, Foreground, roots, []string{"operator"})
		var stuck []graph.ID
		for _, r := range p.Stuck() {
			stuck = append(stuck, r.Object)
		}
		if got := names(p.Graph, stuck); got != want {
			t.Errorf("%s: stuck are %q, want %q", root, got, want)
		}
	}
}

// TestWhatIsOnlyReadIsThereUntilItIsGone: a role that waits in the foreground for an object that is
// stuck still permits, but an operator that waits has no pods any more.
func TestWhatIsOnlyReadIsThereUntilItIsGone(t *testing.T) {
	for part, want := range map[string]string{"role": "child", "operator": "child database"} {
		s := newTied(t)
		s.add(roles, "role")
		s.add(sets, "operator")
		s.add(secrets, "key")
		s.add(configMaps, "database").Finalizers = []string{"example.com/database"}
		owner := map[string]graph.OwnerReference{"role": block(roles, "role"), "operator": block(sets, "operator")}[part]
		s.add(configMaps, "child", owner).Finalizers = []string{"example.com/child"}
		g, links := s.build()
		id := func(name string) graph.ID { return lookup(t, g, name)[0] }
		needs := Needs{id("database"): {{{id(part)}}}, id("child"): {{{id("key")}}}}
		p := New(g, lookup(t, g, "database", part, "key"), Foreground, Options{Links: links}).With(needs)
		var stuck []graph.ID
		for _, r := range p.Stuck() {
			if r.Because.Code == ActorDeleted {
				stuck = append(stuck, r.Object)
			}
		}
		if got := names(g, stuck); got != want {
			t.Errorf("%s: stuck are %q, want %q", part, got, want)
		}
	}
}

// TestNamespaceWithoutDiscoveryIsStuck: when nothing is left in it, and what waits for it.
func TestNamespaceWithoutDiscoveryIsStuck(t *testing.T) {
	for _, holds := range []bool{false, true} {
		s := newTied(t)
		s.add(nsType, "ns")
		s.add(sets, "adapter")
		s.add(pods, "pod", block(sets, "adapter"))
		if holds {
			s.add(configMaps, "database").Finalizers = []string{"example.com/database"}
		}
		g, links := s.build()
		ns, adapter := lookup(t, g, "ns")[0], lookup(t, g, "adapter")[0]
		p := New(g, []graph.ID{ns}, Background, Options{Links: links}).With(Needs{ns: {{{adapter}}}})
		if stuck := p.Stuck(); len(stuck) != 1 ||
			stuck[0] != (ObjectReason{ns, Reason{Code: DiscoveryFails, Cause: adapter, HasCause: true}}) {
			t.Errorf("stuck are %+v", stuck)
		}
		if slices.Contains(p.Deleted, ns) || !slices.Contains(p.Deleted, adapter) {
			t.Errorf("deleted are %s", names(g, p.Deleted))
		}
		for _, a := range p.Actions {
			if a.Verb == VerbFinalizeNamespace {
				t.Errorf("the namespace is finalized: %+v", a)
			}
		}
		if rounds := TakesRounds(g); !rounds["ns"] || len(rounds) != 1 {
			t.Errorf("more than one round for %v", rounds)
		}
	}
}
