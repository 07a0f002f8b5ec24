package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// controller is a reference of what a controller has made.
func controller(t graph.Type, name string) graph.OwnerReference {
	r := block(t, name)
	r.Controller = true
	return r
}

// ordering is what a test says of an ordered deletion: who is needed for whom, by name, and which
// types are custom resources.
type ordering struct {
	policy Policy
	roots  []string
	needs  map[string][]string
}

// ordered plans a deletion in stages. Databases and buckets are custom resources, StatefulSets are
// workloads.
func (s *tied) ordered(o ordering) *Plan {
	s.t.Helper()
	g, links := s.build()
	needs := Needs{}
	for name, parts := range o.needs {
		id := lookup(s.t, g, name)[0]
		needs[id] = append(needs[id], Removers{lookup(s.t, g, parts...)})
	}
	policy := o.policy
	if policy == "" {
		policy = Background
	}
	isOf := func(types ...graph.Type) func(graph.ID) bool {
		return func(id graph.ID) bool {
			t, _ := g.Type(id)
			return slices.Contains(types, t)
		}
	}
	custom := isOf(databases, xdatabases, buckets, kustomizations)
	return New(g, lookup(s.t, g, o.roots...), policy, Options{Links: links}).Ordered(Ordering{
		Needs: needs, Workload: isOf(sets),
		First: func(id graph.ID) bool { return custom(id) || len(needs[id]) > 0 },
	})
}

// inStages are the names of what the client deletes, stage by stage.
func inStages(p *Plan) string {
	var stages []string
	for _, s := range p.Stages() {
		stages = append(stages, names(p.Graph, s.Objects))
	}
	return strings.Join(stages, " | ")
}

// TestStagesOfAnOrderedDeletion: what has to be gone before something else is deleted is in an
// earlier stage.
func TestStagesOfAnOrderedDeletion(t *testing.T) {
	const finalizer = "example.com/finalizer"
	for _, test := range []struct {
		scenario string
		objects  func(s *tied)
		ordering
		stages, deleted string
	}{
		{"a namespace with an operator and what it works on", func(s *tied) {
			s.add(nsType, "ns")
			s.add(sets, "operator")
			s.add(pods, "pod", controller(sets, "operator"))
			s.add(roles, "role")
			s.add(databases, "database").Finalizers = []string{finalizer}
		}, ordering{roots: []string{"ns"}, needs: map[string][]string{"database": {"operator", "role"}}},
			"database | operator | ns", "database ns operator pod"},
		{"custom resources go before all else", func(s *tied) {
			s.add(nsType, "ns")
			s.add(databases, "database")
			s.add(configMaps, "settings")
		}, ordering{roots: []string{"ns", "settings"}}, "database | settings | ns", "database ns settings"},
		{"what waits for an actor goes before all else", func(s *tied) {
			s.add(sets, "operator")
			s.add(configMaps, "lock").Finalizers = []string{finalizer}
			s.add(secrets, "password")
		}, ordering{roots: []string{"operator", "lock", "password"}, needs: map[string][]string{"lock": {"operator"}}},
			"lock | operator password", "lock operator password"},
		{"a dependent is left to its controller", func(s *tied) {
			s.add(databases, "database")
			s.add(kustomizations, "backup", controller(databases, "database"))
			s.add(nsType, "ns")
		}, ordering{roots: []string{"ns"}}, "database | ns", "backup database ns"},
		{"a dependent that nobody creates again goes first", func(s *tied) {
			s.add(databases, "database")
			s.add(kustomizations, "backup", block(databases, "database"))
			s.add(nsType, "ns")
		}, ordering{roots: []string{"ns"}}, "backup | database | ns", "backup database ns"},
		{"a custom resource owns the operator of others", func(s *tied) {
			s.add(databases, "provider").Finalizers = []string{finalizer}
			s.add(databases, "revision", controller(databases, "provider"))
			s.add(sets, "operator", controller(databases, "revision"))
			s.add(buckets, "backup").Finalizers = []string{finalizer}
			s.add(sets, "core")
		}, ordering{roots: []string{"provider", "backup", "core"},
			needs: map[string][]string{"backup": {"operator"}, "provider": {"core"}}},
			"backup | provider | core", "backup core operator provider revision"},
		{"a dependent needs an operator that its controller owns", func(s *tied) {
			s.add(databases, "provider")
			s.add(sets, "operator", controller(databases, "provider"))
			s.add(kustomizations, "backup", controller(databases, "provider")).Finalizers = []string{finalizer}
		}, ordering{roots: []string{"provider"}, needs: map[string][]string{"backup": {"operator"}}},
			"backup | provider", "backup operator provider"},
		{"an object owns its actor, which goes when it is gone", func(s *tied) {
			s.add(databases, "database").Finalizers = []string{finalizer}
			s.add(sets, "operator", controller(databases, "database"))
		}, ordering{roots: []string{"database"}, needs: map[string][]string{"database": {"operator"}}}, "database",
			"database operator"},
		{"a dependent goes with a controller that is named", func(s *tied) {
			s.add(databases, "database")
			s.add(kustomizations, "backup", controller(databases, "database")).Finalizers = []string{finalizer}
			s.add(sets, "operator")
		}, ordering{roots: []string{"database", "operator"}, needs: map[string][]string{"backup": {"operator"}}},
			"database | operator", "backup database operator"},
		{"what another needs is deleted after it", func(s *tied) {
			s.add(databases, "database").Finalizers = []string{finalizer}
			s.add(xdatabases, "config")
		}, ordering{roots: []string{"database", "config"}, needs: map[string][]string{"database": {"config"}}},
			"database | config", "config database"},
		{"a pack says that an object needs another", func(s *tied) {
			s.add(databases, "database")
			s.add(xdatabases, "config")
			s.tie(&link.Definition{Name: "config", Before: true, Deletion: link.Deletion{Of: link.Neither}}, "database",
				"config", nil)
		}, ordering{roots: []string{"config", "database"}}, "database | config", "config database"},
		{"nothing is to be ordered", func(s *tied) {
			s.add(configMaps, "a")
			s.add(configMaps, "b", block(configMaps, "a"))
		}, ordering{roots: []string{"a"}}, "a", "a b"},
	} {
		t.Run(test.scenario, func(t *testing.T) {
			s := newTied(t)
			test.objects(s)
			p := s.ordered(test.ordering)
			if got := inStages(p); got != test.stages {
				t.Errorf("stages %q, want %q", got, test.stages)
			}
			if len(p.Deadlocked) != 0 || len(p.OrderCycle()) != 0 {
				t.Errorf("deadlocked %+v, cycle %v", p.Deadlocked, p.OrderCycle())
			}
			wantDeleted(t, p, test.deleted)
			total := 0
			for _, stage := range p.Stages() {
				total += len(stage.Deleted)
			}
			if total != len(p.Deleted) {
				t.Errorf("the stages delete %d objects, the plan %d", total, len(p.Deleted))
			}
		})
	}
}

// TestOrderedDeletionThatHasNoOrder names the objects that wait for each other.
func TestOrderedDeletionThatHasNoOrder(t *testing.T) {
	const finalizer = "example.com/finalizer"
	for _, test := range []struct {
		scenario string
		objects  func(s *tied)
		ordering
		cycle string
	}{
		{"an actor releases itself", func(s *tied) { s.add(sets, "operator").Finalizers = []string{finalizer} },
			ordering{roots: []string{"operator"}, needs: map[string][]string{"operator": {"operator"}}}, "operator"},
		{"two actors release each other", func(s *tied) {
			s.add(sets, "a").Finalizers = []string{finalizer}
			s.add(sets, "b").Finalizers = []string{finalizer}
		}, ordering{roots: []string{"a", "b"}, needs: map[string][]string{"a": {"b"}, "b": {"a"}}}, "a b"},
		{"a namespace waits for an actor inside of it", func(s *tied) {
			s.add(nsType, "ns").Finalizers = []string{finalizer}
			s.add(sets, "operator")
		}, ordering{roots: []string{"ns"}, needs: map[string][]string{"ns": {"operator"}}}, "ns"},
		{"an object deletes its actor in the foreground", func(s *tied) {
			s.add(databases, "database").Finalizers = []string{finalizer}
			s.add(sets, "operator", controller(databases, "database"))
		}, ordering{policy: Foreground, roots: []string{"database"}, needs: map[string][]string{"database": {"operator"}}},
			"database"},
	} {
		t.Run(test.scenario, func(t *testing.T) {
			s := newTied(t)
			test.objects(s)
			p := s.ordered(test.ordering)
			if got := names(p.Graph, p.OrderCycle()); got != test.cycle || len(p.Stages()) != 0 {
				t.Errorf("cycle %q, want %q; stages %q", got, test.cycle, inStages(p))
			}
		})
	}
}

// TestStageThatDoesNotEnd: what comes after it is kept, and the plan says because of what.
func TestStageThatDoesNotEnd(t *testing.T) {
	s := newTied(t)
	s.add(databases, "database")
	s.add(secrets, "password", controller(databases, "database"))
	s.add(sets, "operator")
	p := s.ordered(ordering{policy: Foreground, roots: []string{"database", "operator"}})
	ids := lookup(t, p.Graph, "password", "operator", "database")
	p = p.Without(map[graph.ID]string{ids[0]: "no"})
	if got := inStages(p); got != "database" || names(p.Graph, p.Deleted) != "" {
		t.Errorf("stages %q, deleted %q", got, names(p.Graph, p.Deleted))
	}
	i := slices.IndexFunc(p.Kept, func(r ObjectReason) bool { return r.Object == ids[1] })
	if i < 0 || p.Kept[i].Because != (Reason{EarlierStage, ids[2], true}) {
		t.Errorf("kept are %+v", p.Kept)
	}
}

// TestFinalizersThatNobodyRemoves keep the later stages from beginning.
func TestFinalizersThatNobodyRemoves(t *testing.T) {
	s := newTied(t)
	s.add(databases, "database").Finalizers = []string{"example.com/finalizer"}
	s.add(sets, "operator")
	p := s.ordered(ordering{roots: []string{"database", "operator"}})
	ids := lookup(t, p.Graph, "database", "operator")
	want := []ObjectReason{{ids[1], Reason{EarlierStage, ids[0], true}}, {ids[0], Reason{Code: ForeignFinalizers}}}
	for _, w := range want {
		if !slices.Contains(p.Blocked, w) {
			t.Errorf("blocked are %+v, want %+v", p.Blocked, w)
		}
	}
	if first := p.FirstStage(); names(first.Graph, first.Deleted) != "database" || first.Stages() != nil {
		t.Errorf("the first stage deletes %q", names(first.Graph, first.Deleted))
	}
}
