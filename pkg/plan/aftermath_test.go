package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// follows says what follows when objects are released, each with what it follows from.
func (s *small) follows(releases ...string) string {
	s.t.Helper()
	g := s.plan(Background).Graph
	var list []Release
	for _, r := range releases {
		name, how, _ := strings.Cut(r, ":")
		list = append(list, Release{Object: lookup(s.t, g, name)[0], Orphans: how == "orphans",
			Background: how == "background"})
	}
	a := NewAftermath(g, list, Options{})
	var says []string
	for _, id := range a.Follows {
		says = append(says, g.Name(id)+"<"+causeOf(a, id))
	}
	return strings.Join(says, " ")
}

func causeOf(a *Aftermath, id graph.ID) string {
	if cause, ok := a.Cause(id); ok {
		return a.Graph.Name(cause)
	}
	return "?"
}

// TestAftermathIsWhatTheCollectorTakes once a finalizer is removed.
func TestAftermathIsWhatTheCollectorTakes(t *testing.T) {
	for _, c := range []struct {
		name     string
		build    func(*small)
		releases []string
		want     string
	}{
		{"a database takes its claims along, whatever protects them", func(s *small) {
			being(s.add(configMaps, "db"), "db.example.com/hold")
			s.add(claims, "data-0", to(configMaps, "db")).Finalizers = []string{"kubernetes.io/pvc-protection"}
			s.add(claims, "data-1", to(configMaps, "db"))
			s.add(claims, "other")
		}, []string{"db"}, "data-0<db data-1<db"},
		{"by way of what the database owns", func(s *small) {
			being(s.add(configMaps, "db"), "db.example.com/hold")
			s.add(sets, "set", to(configMaps, "db")).Finalizers = []string{"example.com/working"}
			s.add(claims, "data-0", to(sets, "set"))
		}, []string{"db"}, "data-0<db set<db"},
		{"another owner keeps a dependent", func(s *small) {
			being(s.add(configMaps, "db"), "db.example.com/hold")
			s.add(configMaps, "keeps")
			s.add(claims, "data-0", to(configMaps, "db"), to(configMaps, "keeps"))
		}, []string{"db"}, ""},
		{"both owners of a dependent are released", func(s *small) {
			being(s.add(configMaps, "a"), "h")
			being(s.add(configMaps, "b"), "h")
			s.add(claims, "data-0", to(configMaps, "a"), to(configMaps, "b"))
		}, []string{"a", "b"}, "data-0<b"},
		{"an owner that was gone before is not the cause", func(s *small) {
			being(s.add(configMaps, "a"), "h")
			s.add(claims, "data-0", to(configMaps, "a"), to(configMaps, "gone"))
		}, []string{"a"}, "data-0<a"},
		{"what is not being deleted stays without its finalizer", func(s *small) {
			s.add(configMaps, "db").Finalizers = []string{"h"}
			s.add(claims, "data-0", to(configMaps, "db"))
		}, []string{"db"}, ""},
		{"it waits for its dependents, which the collector has deleted already", func(s *small) {
			being(s.add(configMaps, "db"), "h", ForegroundFinalizer)
			being(s.add(claims, "data-0", block(configMaps, "db")), "kubernetes.io/pvc-protection")
		}, []string{"db"}, ""},
		{"it waits for nobody any more, and its dependents go after it", func(s *small) {
			being(s.add(configMaps, "db"), ForegroundFinalizer)
			being(s.add(claims, "stays", block(configMaps, "db")), "h")
			s.add(claims, "data-0", block(configMaps, "db"))
		}, []string{"db:background"}, "data-0<db"},
		{"its owner waited for it", func(s *small) {
			being(s.add(configMaps, "owner"), ForegroundFinalizer)
			being(s.add(configMaps, "db", block(configMaps, "owner")), "h")
			s.add(secrets, "late", to(configMaps, "owner"))
		}, []string{"db"}, "owner<db late<db"},
		{"dependents are orphaned before it goes", func(s *small) {
			being(s.add(configMaps, "db"), OrphanFinalizer)
			s.add(claims, "data-0", to(configMaps, "db"))
		}, []string{"db:orphans"}, ""},
		{"what others hold already stays", func(s *small) {
			being(s.add(configMaps, "db"), "h")
			being(s.add(configMaps, "part", to(configMaps, "db")), "part.example.com/hold")
			s.add(claims, "data-0", to(configMaps, "part"))
		}, []string{"db"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSmall(t)
			c.build(s)
			if got := s.follows(c.releases...); got != c.want {
				t.Errorf("follows %q, want %q", got, c.want)
			}
		})
	}
}

// TestAftermathOfManyIsLinear: each object is looked at a bounded number of times.
func TestAftermathOfManyIsLinear(t *testing.T) {
	const many = 20000
	s := newSmall(t)
	var releases []string
	for i := range many {
		name := fmt.Sprintf("db-%05d", i)
		being(s.add(configMaps, name), "h")
		s.add(claims, "data-"+name, to(configMaps, name))
		releases = append(releases, name)
	}
	if got := strings.Count(s.follows(releases...), "<db-"); got != many {
		t.Errorf("%d follow, want %d", got, many)
	}
}
