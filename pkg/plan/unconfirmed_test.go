package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// byClient are the writes of the client, as "delete claim".
func byClient(p *Plan) string {
	var writes []string
	for _, a := range p.Actions {
		if a.By == ByClient {
			writes = append(writes, string(a.Verb)+" "+p.Graph.Name(a.Object))
		}
	}
	slices.Sort(writes)
	return strings.Join(writes, ", ")
}

// TestOnlyTheProgramActsOnWhatDoesNotConfirmALink: a claim names an object that does not name it
// back. The plan counts what Crossplane does to that and to what it owns; the client deletes the
// claim, and writes to nothing else, in the foreground, with --strict and in stages.
func TestOnlyTheProgramActsOnWhatDoesNotConfirmALink(t *testing.T) {
	s := newTied(t)
	s.add(databases, "claim").Finalizers = []string{claimFinalizer}
	s.add(nsType, "ns")
	s.add(databases, "foreign").Finalizers = []string{claimFinalizer}
	s.add(configMaps, "settings", to(databases, "foreign"))
	s.tie(compositeOf, "claim", "foreign", nil, claimFinalizer).unconfirmed = true
	g, links := s.build()
	roots := lookup(t, g, "claim")
	for name, p := range map[string]*Plan{
		"foreground": s.plan(Foreground, "claim"),
		"strict":     New(g, roots, Foreground, Options{Links: links, Strict: true}),
		"ordered":    s.ordered(ordering{policy: Foreground, roots: []string{"claim"}}),
	} {
		if got := byClient(p); got != "delete claim" {
			t.Errorf("%s: the client does %s", name, got)
		}
		if got := names(g, p.Deleted); got != "claim foreign settings" {
			t.Errorf("%s: deletes %s", name, got)
		}
		for _, uid := range []string{"foreign", "settings"} {
			if p.Belongs(lookup(t, g, uid)[0]) {
				t.Errorf("%s: %s belongs to the claim", name, uid)
			}
		}
	}
}

// TestWhatIsNamedBelongsWhateverLinksSay: the end of an unconfirmed link is named itself, lies in a
// namespace that is named, or is owned by what is.
func TestWhatIsNamedBelongsWhateverLinksSay(t *testing.T) {
	for name, test := range map[string]struct {
		owners []graph.OwnerReference
		roots  []string
	}{
		"named":  {nil, []string{"claim", "end"}},
		"inside": {nil, []string{"ns"}},
		"owned":  {[]graph.OwnerReference{to(databases, "claim")}, []string{"claim"}},
	} {
		s := newTied(t)
		s.add(nsType, "ns")
		s.add(databases, "claim").Finalizers = []string{claimFinalizer}
		s.add(databases, "end", test.owners...)
		s.tie(compositeOf, "claim", "end", nil, claimFinalizer).unconfirmed = true
		if p := s.plan(Foreground, test.roots...); !p.Belongs(lookup(t, p.Graph, "end")[0]) {
			t.Errorf("%s: the end does not belong to %v", name, test.roots)
		}
	}
}

// TestClientWritesToWhatBelongsToTheRoots: whatever the links between objects are, and however they
// are deleted, the client writes to what was named, lies inside, is owned or confirms its link, as
// a walk along the edges of the test says.
func TestClientWritesToWhatBelongsToTheRoots(t *testing.T) {
	definitions := []*link.Definition{compositeOf, resourceOf, inventoryOf}
	finalizers := []string{claimFinalizer, argoFinalizer, fluxFinalizer}
	foreign := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := newTied(t)
		below := map[string][]string{"ns": nil}
		s.add(nsType, "ns")
		var uids []string
		for i := range 10 {
			uid := fmt.Sprintf("o%d", i)
			typ := []graph.Type{databases, buckets, xdatabases, sets, configMaps}[r.IntN(5)]
			var owners []graph.OwnerReference
			if i > 0 && r.IntN(4) == 0 {
				owner := s.objects[buckets]
				if len(owner) > 0 {
					owners = append(owners, to(buckets, owner[0].Name))
					below[owner[0].Name] = append(below[owner[0].Name], uid)
				}
			}
			s.add(typ, uid, owners...).Finalizers = finalizers[r.IntN(3):]
			if typ.Namespaced {
				below["ns"] = append(below["ns"], uid)
			}
			uids = append(uids, uid)
		}
		for range 8 {
			source, end := uids[r.IntN(10)], uids[r.IntN(10)]
			tie := s.tie(definitions[r.IntN(3)], source, end, nil, finalizers...)
			if tie.unconfirmed = r.IntN(2) == 0; !tie.unconfirmed {
				below[source] = append(below[source], end)
			}
		}
		roots := []string{uids[r.IntN(10)], append(uids, "ns")[r.IntN(11)]}
		belongs := map[string]bool{}
		for queue := slices.Clone(roots); len(queue) > 0; queue = queue[1:] {
			if !belongs[queue[0]] {
				belongs[queue[0]] = true
				queue = append(queue, below[queue[0]]...)
			}
		}
		g, links := s.build()
		needs := map[string][]string{}
		for range 3 {
			needs[uids[r.IntN(10)]] = []string{uids[r.IntN(10)]}
		}
		for _, policy := range []Policy{Background, Foreground, Orphan} {
			for _, p := range []*Plan{
				New(g, lookup(t, g, roots...), policy, Options{Links: links, Strict: true}),
				s.ordered(ordering{policy: policy, roots: roots, needs: needs}),
			} {
				for _, a := range p.Actions {
					if a.By == ByClient && !belongs[g.Ref(a.Object).UID] {
						t.Errorf("seed %d, %s of %v: the client is to %s %s", seed, policy, roots, a.Verb, g.Name(a.Object))
					}
				}
				for _, id := range p.Deleted {
					if !belongs[g.Ref(id).UID] {
						foreign++
					}
				}
			}
		}
	}
	if foreign == 0 {
		t.Error("no plan reaches anything that does not belong to its roots")
	}
}
