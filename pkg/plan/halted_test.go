package plan

import "testing"

// TestAWaveWaitsForWhatIsBeingDeletedAlready: Argo CD deletes nothing of an Application as long as one
// of its objects is being deleted, also one that it keeps. What waits behind that one goes after it,
// and the plan names it.
func TestAWaveWaitsForWhatIsBeingDeletedAlready(t *testing.T) {
	const by = "annotation argocd.argoproj.io/sync-options has Delete=false"
	for _, c := range []struct {
		name, kept  string
		halts, held bool
		want, until string
		actions     []string
	}{
		{name: "kept", kept: by, halts: true, held: true, want: "app held other", until: "held other",
			actions: []string{"1 delete app Background", "4 delete other Foreground", "5 removeFinalizer other"}},
		{name: "deleted", halts: true, held: true, want: "app held other", until: "held other",
			actions: []string{"1 delete app Background", "4 delete other Foreground", "5 removeFinalizer other"}},
		{name: "not permitted", kept: by, held: true, want: "app other", until: "other",
			actions: []string{"1 delete app Background", "2 delete other Foreground", "3 removeFinalizer other"}},
		{name: "not deleted", kept: by, halts: true, want: "app other", until: "other",
			actions: []string{"1 delete app Background", "2 delete other Foreground", "3 removeFinalizer other"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTied(t)
			s.add(applications, "app").Finalizers = []string{argoFinalizer}
			held := s.add(configMaps, "held")
			if held.Finalizers = []string{"example.com/hold"}; c.held {
				held.DeletionTimestamp = 1
			}
			s.add(configMaps, "other")
			tie := s.tie(resourceOf, "app", "held", nil, argoFinalizer)
			tie.kept, tie.halts = c.kept, c.halts
			s.tie(resourceOf, "app", "other", nil, argoFinalizer).halts = c.halts
			p := s.plan(Background, "app")
			wantDeleted(t, p, c.want)
			wantSaid(t, p, c.actions...)
			if until := names(p.Graph, p.Until(p.Roots[0])); until != c.until {
				t.Errorf("the Application waits until %q are gone, want %q", until, c.until)
			}
			other := lookup(t, p.Graph, "other")[0]
			f, _ := p.Link(other, Reason{Code: LinkDeleted, Cause: p.Roots[0], HasCause: true})
			if first, once := p.Once(f); once != c.halts && c.held || once && p.Graph.Name(first) != "held" {
				t.Errorf("other goes once %v is gone (%t)", first, once)
			}
			if !c.halts || !c.held {
				return
			}
			for _, r := range p.Blocked {
				if r.Object == p.Roots[0] && (r.Because.Code != LinkWaits || p.Graph.Name(r.Because.Cause) != "held") {
					t.Errorf("as long as nobody removes finalizers the Application stays because of %+v", r.Because)
				}
			}
		})
	}
}
