package plan

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestARootIsDeletedWithItsOwnPolicy: what a root with the policy Orphan owns stays, beside one
// with the policy of the plan. What the client deletes first, it deletes for roots in the
// foreground only.
func TestARootIsDeletedWithItsOwnPolicy(t *testing.T) {
	s := newTied(t)
	s.add(configMaps, "one")
	s.add(secrets, "below-one", to(configMaps, "one"))
	s.add(configMaps, "two")
	s.add(secrets, "below-two", to(configMaps, "two"))
	s.claim("", claimFinalizer)
	g, links := s.build()
	roots := lookup(t, g, "one", "two", "claim")
	own := map[graph.ID]Policy{roots[1]: Orphan}
	p := New(g, roots, Foreground, Options{Links: links, Policies: own})
	wantDeleted(t, p, "below-one claim composed composite one two")
	wantReason(t, p, "below-two", OwnerOrphans, "two")
	if first := p.First(); len(first) != 1 || first[0].Policy != Foreground {
		t.Errorf("first %+v, want composite in the foreground", first)
	}
	own[roots[2]] = Background
	if first := New(g, roots, Foreground, Options{Links: links, Policies: own}).First(); len(first) > 0 {
		t.Errorf("first %+v of a claim in the background, want none", first)
	}
	own = map[graph.ID]Policy{roots[2]: Foreground}
	if first := New(g, roots, Background, Options{Links: links, Policies: own}).First(); len(first) != 1 || first[0].Policy != Foreground {
		t.Errorf("first %+v of a claim in the foreground, want composite in the foreground", first)
	}
}
