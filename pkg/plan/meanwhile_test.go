package plan

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestAnOwnerThatIsBeingDeletedKeepsForNow: another owner that lives is named rather than one that is
// being deleted, and of that it is said what becomes of the object (GC-046).
func TestAnOwnerThatIsBeingDeletedKeepsForNow(t *testing.T) {
	t.Parallel()
	s := newSmall(t)
	s.add(configMaps, "owner")
	being(s.add(configMaps, "held"), "example.com/hold")
	s.add(configMaps, "alive")
	s.add(secrets, "kept", to(configMaps, "owner"), to(configMaps, "held"), to(configMaps, "alive"))
	s.add(secrets, "for now", to(configMaps, "owner"), to(configMaps, "held"))
	p := s.plan(Background, "owner")
	for object, want := range map[string]string{
		"kept":    "ConfigMap/alive owns it too",
		"for now": "for now: ConfigMap/held owns it too, and is being deleted",
	} {
		id := lookup(t, p.Graph, object)[0]
		for _, k := range p.Kept {
			if got := k.Because.Sentence(p.Graph, id); k.Object == id && got != want {
				t.Errorf("%s is kept because %q, want %q", object, got, want)
			}
		}
	}
	if got, want := names(p.Graph, Objects(p.Kept)), "for now kept"; got != want {
		t.Errorf("kept %q, want %q", got, want)
	}
}

// TestWhatOrphansSinceBeforeLosesItsDependentsFirst: a dependent goes with its other owner, also where
// a finalizer of somebody else holds the first one, and stays without another one. One that is
// deleted once more with another policy does not orphan (API-003, GC-067).
func TestWhatOrphansSinceBeforeLosesItsDependentsFirst(t *testing.T) {
	t.Parallel()
	s := newSmall(t)
	s.add(configMaps, "owner")
	being(s.add(configMaps, "orphaning"), OrphanFinalizer)
	being(s.add(configMaps, "held"), OrphanFinalizer, "example.com/hold")
	s.add(configMaps, "alive")
	s.add(secrets, "shared", to(configMaps, "orphaning"), to(configMaps, "held"), to(configMaps, "owner"))
	s.add(secrets, "kept", to(configMaps, "orphaning"), to(configMaps, "owner"), to(configMaps, "alive"))
	s.add(secrets, "orphan", to(configMaps, "orphaning"))
	for _, policy := range []Policy{Background, Foreground} {
		p := s.plan(policy, "owner")
		wantDeleted(t, p, "owner shared")
		wantReason(t, p, "kept", OwnedByAnother, "alive")
		if p.DependsOnTiming {
			t.Errorf("%s: %q depend on timing", policy, names(p.Graph, p.Unsettled))
		}
	}
	wantDeleted(t, s.plan(Background, "orphaning"), "orphan orphaning")
}

// TestTheOwnerThatWentIsNamed, and not one that was absent before, in whichever order.
func TestTheOwnerThatWentIsNamed(t *testing.T) {
	t.Parallel()
	s := newSmall(t)
	s.add(configMaps, "owner")
	s.add(secrets, "first", to(configMaps, "owner"), to(configMaps, "ghost"))
	s.add(secrets, "last", to(configMaps, "ghost"), to(configMaps, "owner"))
	p := s.plan(Background, "owner")
	wantReason(t, p, "first", OwnersGone, "owner")
	wantReason(t, p, "last", OwnersGone, "owner")
}

// TestADeletionThatBeganBeforeIsCompleted by what goes with the plan.
func TestADeletionThatBeganBeforeIsCompleted(t *testing.T) {
	t.Parallel()
	s := newSmall(t)
	s.add(configMaps, "owner")
	being(s.add(configMaps, "waiting"), ForegroundFinalizer)
	s.add(secrets, "dependent", block(configMaps, "owner"), block(configMaps, "waiting"))
	for _, policy := range []Policy{Background, Foreground} {
		p := s.plan(policy, "owner")
		if got, want := names(p.Graph, p.Completed()), "waiting"; got != want {
			t.Errorf("%s: completed %q, want %q", policy, got, want)
		}
	}
	if p := s.plan(Foreground, "dependent"); names(p.Graph, p.Deleted) != "dependent waiting" {
		t.Errorf("deleted %q, want what waits for it too", names(p.Graph, p.Deleted))
	}
}

// TestAPVCComesBackWithItsStatefulSet, if that stays and has a template for it.
func TestAPVCComesBackWithItsStatefulSet(t *testing.T) {
	t.Parallel()
	s := newSmall(t)
	s.add(sets, "db")
	s.add(claims, "data-db-0")
	s.add(claims, "data-db-1")
	s.add(claims, "other-db-0")
	templates := func(p *Plan) Details {
		return Details{StatefulSets: map[graph.ID]StatefulSet{lookup(t, p.Graph, "db")[0]: {Templates: []string{"data"}}}}
	}
	p := s.plan(Background, "data-db-0", "other-db-0")
	if got := names(p.Graph, p.Claiming()); got != "db" {
		t.Errorf("PVCs can be those of %q, want db", got)
	}
	p.Learn(templates(p))
	if len(p.Recreated) != 1 || p.Graph.Name(p.Recreated[0].Object) != "data-db-0" || p.Recreated[0].With == "" {
		t.Errorf("comes back: %+v, want data-db-0 with a pod", p.Recreated)
	}
	if len(p.Kept) > 0 {
		t.Errorf("kept %q, of a StatefulSet that stays", names(p.Graph, Objects(p.Kept)))
	}
	p = s.plan(Background, "data-db-0", "db")
	if sets := p.Claiming(); len(sets) > 0 {
		t.Errorf("PVCs can be those of %q, which goes", names(p.Graph, sets))
	}
	if p.Learn(templates(p)); len(p.Recreated) > 0 {
		t.Errorf("comes back without its StatefulSet: %+v", p.Recreated)
	}
	if p = s.plan(Background, "db"); len(p.Claiming()) > 0 {
		t.Error("StatefulSets are asked for though no PVC goes")
	}
}
