package plan

import (
	"testing"
)

// agreedTo is a consent to a run over a cluster.
func agreedTo(t *testing.T, build func(*small)) *Consent {
	t.Helper()
	s := newSmall(t)
	build(s)
	var c Consent
	c.Agree(s.run(Options{}))
	return &c
}

// TestConsentIsToTheWholeCascade: what the waves of a plan do later is agreed to, and what comes up
// besides is growth.
func TestConsentIsToTheWholeCascade(t *testing.T) {
	cascade := func(s *small) {
		s.add(configMaps, "middle", to(configMaps, "nobody"))
		s.add(configMaps, "leaf", to(configMaps, "middle"))
		s.add(configMaps, "alive")
		s.add(configMaps, "kept", to(configMaps, "alive"), to(configMaps, "nobody"))
		being(s.add(configMaps, "waits"), ForegroundFinalizer)
		s.add(secrets, "child", block(configMaps, "waits"))
		being(s.add(configMaps, "orphans"), OrphanFinalizer)
		s.add(secrets, "spared", to(configMaps, "orphans"))
	}
	c := agreedTo(t, cascade)
	for name, test := range map[string]struct {
		build            func(*small)
		deleted, written string
	}{
		"the same":         {build: cascade},
		"some of it, done": {build: func(s *small) { s.add(configMaps, "leaf", to(configMaps, "middle")) }},
		"new garbage": {deleted: "new", build: func(s *small) {
			cascade(s)
			s.add(configMaps, "new", to(configMaps, "nobody"))
		}},
		"a new dependent of what is deleted": {deleted: "new", build: func(s *small) {
			cascade(s)
			s.add(configMaps, "new", to(configMaps, "leaf"))
		}},
		"an object that was to lose a reference only": {deleted: "kept",
			build: func(s *small) { s.add(configMaps, "kept", to(configMaps, "nobody")) }},
		"another reference of the same object": {written: "kept", build: func(s *small) {
			s.add(configMaps, "alive")
			s.add(configMaps, "kept", to(configMaps, "alive"), to(configMaps, "nobody else"))
		}},
		"a new dependent of an owner that orphans": {build: func(s *small) {
			cascade(s)
			s.add(secrets, "late", to(configMaps, "orphans"))
		}},
		"another owner that orphans": {written: "other spared", build: func(s *small) {
			being(s.add(configMaps, "other"), OrphanFinalizer)
			s.add(secrets, "spared", to(configMaps, "other"))
		}},
		"another owner that waits": {written: "other",
			build: func(s *small) { being(s.add(configMaps, "other"), ForegroundFinalizer) }},
	} {
		s := newSmall(t)
		test.build(s)
		p := s.run(Options{})
		g := c.Beyond(p)
		if deleted, written := names(p.Graph, g.Deleted), names(p.Graph, g.Written); deleted != test.deleted ||
			written != test.written {
			t.Errorf("%s: deletes %q and writes to %q, want %q and %q", name, deleted, written, test.deleted, test.written)
		}
		if g.None() != (test.deleted+test.written == "") {
			t.Errorf("%s: None is %t", name, g.None())
		}
	}
}

// TestConsentIsToWhatFollowsOthers: what goes on after others have removed their finalizers is
// agreed to, whether they held an object before or the plan deletes it.
func TestConsentIsToWhatFollowsOthers(t *testing.T) {
	s := newSmall(t)
	s.add(configMaps, "held", to(configMaps, "nobody")).Finalizers = []string{"example.com/hold"}
	s.add(secrets, "below", to(configMaps, "held"))
	being(s.add(configMaps, "going"), "example.com/hold")
	s.add(secrets, "of-going", to(configMaps, "going"))
	s.add(secrets, "of-of-going", to(secrets, "of-going"))
	p := s.run(Options{})
	wantSaid(t, p, "1 delete held Background")
	if got := names(p.Graph, p.Follows()); got != "below of-going of-of-going" {
		t.Errorf("follows %q", got)
	}
	var c Consent
	c.Agree(p)
	for _, uid := range []string{"held", "below", "of-going", "of-of-going"} {
		if !c.Allows(VerbDelete, uid) {
			t.Errorf("the deletion of %s was not agreed to", uid)
		}
	}
	if c.Allows(VerbDelete, "going") || c.Deletes("going") {
		t.Error("the deletion of what others deleted was agreed to")
	}
}

// TestConsentToADeletion: a loop that does the collector's part of a deletion may write what its
// plan has the collector write.
func TestConsentToADeletion(t *testing.T) {
	s := newSmall(t)
	s.add(configMaps, "root")
	s.add(secrets, "child", to(configMaps, "root"))
	var c Consent
	c.Agree(s.plan(Orphan, "root"))
	switch {
	case !c.Allows(VerbOrphan, "child", "root"), !c.Allows(VerbRemoveFinalizer, "root"),
		!c.Allows(VerbOrphan, "later", "root"):
		t.Error("orphaning was not agreed to")
	case c.Allows(VerbDelete, "child"), c.Allows(VerbOrphan, "child", "root", "other"), c.Allows(VerbUnblock, "child"):
		t.Error("more was agreed to")
	}
	c.Keep(func(uid string) bool { return uid == "child" })
	if c.Allows(VerbRemoveFinalizer, "root") || c.Len() != 1 {
		t.Errorf("%d are kept of what is no more", c.Len())
	}
}
