package plan

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestProtectedDependent stays: in the background its owners go, in the foreground they wait for
// it, and a namespace never ends.
func TestProtectedDependent(t *testing.T) {
	for _, test := range []struct {
		policy         Policy
		root           string
		deleted, stuck string
	}{
		{Background, "top", "middle other top", ""},
		{Foreground, "top", "other", "middle top"},
		{Orphan, "top", "top", ""},
		{Background, "ns", "middle other top", "ns"},
	} {
		s := newTied(t)
		s.add(nsType, "ns")
		s.add(configMaps, "top")
		s.add(configMaps, "middle", block(configMaps, "top"))
		s.add(secrets, "keep", block(configMaps, "middle"))
		s.add(secrets, "other", to(configMaps, "top"))
		p := s.plan(test.policy, test.root)
		keep := lookup(t, p.Graph, "keep")[0]
		p = p.Without(map[graph.ID]string{keep: "protected by hand"})
		var stuck []graph.ID
		for _, r := range p.Stuck() {
			stuck = append(stuck, r.Object)
		}
		if got := names(p.Graph, p.Deleted); got != test.deleted {
			t.Errorf("%s of %s: deleted %q, want %q", test.policy, test.root, got, test.deleted)
		}
		if got := names(p.Graph, stuck); got != test.stuck {
			t.Errorf("%s of %s: stuck %q, want %q", test.policy, test.root, got, test.stuck)
		}
		if all := p.Protected(); len(all) != 1 || all[0] != (v1alpha1.Protected{Object: p.Graph.Ref(keep), Message: "protected by hand"}) {
			t.Errorf("%s of %s: protected %+v", test.policy, test.root, all)
		}
	}
	// An operator that is protected goes on, and releases what it released before.
	operator := operated(t)
	held := stuckIn(t, operator, Background, []string{"ns"}, []string{"operator"})
	ids := lookup(t, held.Graph, "database", "operator")
	if p := held.Without(map[graph.ID]string{ids[1]: "no"}).With(Needs{ids[0]: {{{ids[1]}}}}); len(held.Stuck()) == 0 ||
		names(p.Graph, p.Deleted) != "database password pod" {
		t.Errorf("stuck %+v, deleted %q", p.Stuck(), names(p.Graph, p.Deleted))
	}
	// What others do not send is told when it is sent.
	s := newTied(t)
	s.add(configMaps, "top")
	p := s.plan(Background, "top")
	wantDeleted(t, p.Without(map[graph.ID]string{p.Roots[0]: "no"}), "top")
}

// TestContentBehindAProtectedObject stays: the controller of namespaces stops at it, and comes to
// what is of another type or before it by name. What the collector deletes goes.
func TestContentBehindAProtectedObject(t *testing.T) {
	s := newTied(t)
	s.add(nsType, "ns")
	s.add(secrets, "early")
	s.add(secrets, "keep")
	s.add(secrets, "later")
	s.add(configMaps, "zebra")
	s.add(secrets, "owned", to(configMaps, "zebra"))
	p := s.plan(Background, "ns")
	ids := lookup(t, p.Graph, "keep", "later")
	p = p.Without(map[graph.ID]string{ids[0]: "no"})
	if got := names(p.Graph, p.Deleted); got != "early owned zebra" {
		t.Errorf("deleted %q", got)
	}
	if code, cause := reasonOf(p, "later"); code != NotReached || cause != "keep" {
		t.Errorf("later is left because of %s %s", code, cause)
	}
}
