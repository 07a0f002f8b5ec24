package plan

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestDeletedAlthoughAnOwnerIsAlive_X01: a dependent of the root has another owner, alive, whose
// name, kind or group its reference gets wrong.
func TestDeletedAlthoughAnOwnerIsAlive_X01(t *testing.T) {
	for name, wrong := range map[string]graph.OwnerReference{
		"name":  as(to(configMaps, "alive"), configMaps, "living"),
		"kind":  as(to(configMaps, "alive"), secrets, "alive"),
		"group": as(to(configMaps, "alive"), sets, "alive"),
	} {
		for _, policy := range []Policy{Background, Foreground} {
			s := newSmall(t)
			s.add(configMaps, "root")
			s.add(configMaps, "alive")
			s.add(configMaps, "dependent", wrong, to(configMaps, "root"))
			s.add(configMaps, "kept", to(configMaps, "alive"), to(configMaps, "root"))
			p := s.plan(policy, "root")
			wantReason(t, p, "dependent", OwnerMismatch, "alive")
			wantReason(t, p, "kept", OwnedByAnother, "alive")
			if got := p.Surprises(); len(got) != 1 || names(p.Graph, []graph.ID{got[0].Object}) != "dependent" {
				t.Errorf("%s, %s: surprises %+v, want the dependent", name, policy, got)
			}
			id, _ := p.Graph.Lookup("dependent")
			e, ok := Reference(p.Graph, id, Reason{Code: OwnerMismatch, Cause: lookup(t, p.Graph, "alive")[0], HasCause: true})
			if !ok || e.Name != wrong.Name || e.Kind != wrong.Kind {
				t.Errorf("%s, %s: the reference %+v, %t, want the wrong one", name, policy, e, ok)
			}
		}
	}
}

// TestOwnerInAnotherNamespace_X01: the owner is in another namespace than its dependent (GC-047).
func TestOwnerInAnotherNamespace_X01(t *testing.T) {
	s := newSmall(t)
	s.add(configMaps, "root")
	s.add(configMaps, "alive").Namespace = "other"
	s.add(configMaps, "dependent", to(configMaps, "root"), to(configMaps, "alive"))
	wantReason(t, s.plan(Background, "root"), "dependent", OwnerMismatch, "alive")
}

// TestMismatchWithTheRoot: the wrong reference is to the root itself; the dependent goes with it,
// which is no surprise.
func TestMismatchWithTheRoot(t *testing.T) {
	s := newSmall(t)
	s.add(configMaps, "root")
	s.add(configMaps, "dependent", as(to(configMaps, "root"), configMaps, "truck"))
	s.add(configMaps, "right", to(configMaps, "root"))
	s.add(configMaps, "absent", to(configMaps, "nobody"), to(configMaps, "root"))
	s.add(configMaps, "other")
	s.add(configMaps, "both", as(to(configMaps, "other"), configMaps, "truck"), to(configMaps, "root"))
	p := s.plan(Background, "root", "other")
	wantReason(t, p, "both", OwnersGone, "root") // which is enough of an explanation
	wantReason(t, p, "dependent", OwnerMismatch, "root")
	wantReason(t, p, "right", OwnersGone, "root")
	wantReason(t, p, "absent", OwnersGone, "root")
	if got := p.Surprises(); len(got) != 0 {
		t.Errorf("surprises %+v, want none", got)
	}
}

// TestNotJudgedSaysWhichReference: bad scope and a kind that is not served.
func TestNotJudgedSaysWhichReference(t *testing.T) {
	s := newSmall(t)
	s.add(configMaps, "root")
	s.add(configMaps, "unserved", to(configMaps, "root"),
		graph.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: "w", UID: "w"})
	s.add(roles, "scope", to(configMaps, "root"))
	p := s.plan(Background, "root")
	for uid, problem := range map[string]graph.Problem{"unserved": graph.Unresolvable, "scope": graph.WrongScope} {
		if code, _ := reasonOf(p, uid); code != OwnerUnresolved {
			t.Errorf("%s is %s, want NotJudged", uid, code)
		}
		for _, survivor := range p.Kept {
			if p.Graph.Ref(survivor.Object).UID != uid {
				continue
			}
			if e, ok := Reference(p.Graph, survivor.Object, survivor.Because); !ok || e.Problem&problem == 0 {
				t.Errorf("%s: reference %+v, %t, want one with problem %v", uid, e, ok, problem.Names())
			}
		}
	}
}

// TestOwnerWithFinalizersIsTheCause_RO053: of two owners that go in one wave, the dependent waits
// for the one with a finalizer, whichever comes last.
func TestOwnerWithFinalizersIsTheCause_RO053(t *testing.T) {
	for _, owners := range [][]string{{"held", "free"}, {"free", "held"}} {
		s := newSmall(t)
		s.add(configMaps, "held").Finalizers = []string{"example.com/hold"}
		s.add(configMaps, "above")
		s.add(configMaps, "free", to(configMaps, "above"))
		s.add(configMaps, "dependent", to(configMaps, owners[0]), to(configMaps, owners[1]))
		p := s.plan(Background, "held", "above")
		wantReason(t, p, "dependent", OwnersGone, "held")
		if got := names(p.Graph, Objects(p.Blocked)); got != "dependent held" {
			t.Errorf("remaining: %q, want the dependent and the held owner", got)
		}
	}
}

// TestNonBlockingReferences_GC061: the references of a foreground cascade without
// blockOwnerDeletion, each dependent and owner once.
func TestNonBlockingReferences_GC061(t *testing.T) {
	s := newSmall(t)
	s.add(configMaps, "other")
	s.add(configMaps, "root")
	s.add(configMaps, "blocking", block(configMaps, "root"))
	s.add(configMaps, "loose", to(configMaps, "root"))
	s.add(configMaps, "twice", to(configMaps, "root"), to(configMaps, "root"))
	s.add(configMaps, "both", to(configMaps, "root"), block(configMaps, "root"))
	s.add(configMaps, "kept", to(configMaps, "root"), to(configMaps, "other"))
	s.add(configMaps, "below", to(configMaps, "blocking"))
	s.add(configMaps, "leaf", to(configMaps, "loose"))
	s.add(configMaps, "self", to(configMaps, "self"))
	s.add(configMaps, "waits", block(configMaps, "root")).Finalizers = []string{ForegroundFinalizer}
	s.add(configMaps, "waited", to(configMaps, "waits"))
	for policy, want := range map[Policy]string{Foreground: "below leaf loose twice waited", Background: "", Orphan: ""} {
		p := s.plan(policy, "root", "self")
		var dependents []graph.ID
		for _, e := range p.NonBlocking {
			dependents = append(dependents, e.Dependent)
		}
		if got := names(p.Graph, dependents); got != want {
			t.Errorf("%s: %q do not block, want %q", policy, got, want)
		}
	}
}

// TestOwnOrphanFinalizerIsOverridden_X13: it counts when the owner is gone, and not when the owner
// waits.
func TestOwnOrphanFinalizerIsOverridden_X13(t *testing.T) {
	s := newSmall(t)
	s.add(configMaps, "root")
	s.add(configMaps, "middle", block(configMaps, "root")).Finalizers = []string{OrphanFinalizer}
	s.add(configMaps, "leaf", to(configMaps, "middle"))
	p := s.plan(Foreground, "root")
	if got := names(p.Graph, p.Overridden()); got != "middle" {
		t.Errorf("overridden: %s, want middle", got)
	}
	if got := names(p.Graph, p.Deleted); got != "leaf middle root" {
		t.Errorf("deleted: %s", got)
	}
	p = s.plan(Background, "root")
	if got := p.Overridden(); len(got) > 0 {
		t.Errorf("overridden in the background: %s", names(p.Graph, got))
	}
	if got := names(p.Graph, p.Deleted); got != "middle root" {
		t.Errorf("deleted in the background: %s", got)
	}
}
