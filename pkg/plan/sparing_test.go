package plan

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestWhatIsDeletedIfAProgramSparesAnEnd: the end stays with what it owns, unless something else
// deletes it, and whoever waits for it goes.
func TestWhatIsDeletedIfAProgramSparesAnEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change   func(s *tied)
		roots    []string
		deleters string
		want     string
		ongoing  bool
	}{
		"one that nothing else deletes": {deleters: "app", want: "app"},
		"of a deletion that has begun": {ongoing: true, deleters: "app", want: "app",
			change: func(s *tied) { s.objects[applications][0].DeletionTimestamp = 1 }},
		"that is named": {roots: []string{"app", "set"}, deleters: "app", want: "app pod set"},
		"whose owner is deleted": {roots: []string{"app", "owner"}, deleters: "app", want: "app owner pod set",
			change: func(s *tied) { s.objects[sets][0].Owners = []graph.OwnerReference{to(configMaps, "owner")} }},
		"in a namespace that is deleted": {roots: []string{"app", "ns"}, deleters: "app", want: "app ns owner pod set",
			change: func(s *tied) { s.add(nsType, "ns") }},
		"that another names": {deleters: "app other", want: "app", change: func(s *tied) {
			s.add(kustomizations, "other").Finalizers = []string{fluxFinalizer}
			s.tie(inventoryOf, "other", "set", nil, fluxFinalizer)
		}},
		"that a program without a finalizer deletes too": {deleters: "", want: "app", change: func(s *tied) {
			d := *inventoryOf
			d.Deletion.Finalizer = ""
			s.add(kustomizations, "other")
			s.tie(&d, "other", "set", nil)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTied(t)
			s.add(configMaps, "owner")
			s.add(applications, "app").Finalizers = []string{argoFinalizer}
			s.add(sets, "set")
			s.add(pods, "pod", block(sets, "set"))
			s.tie(resourceOf, "app", "set", nil, argoFinalizer)
			if test.change != nil {
				test.change(s)
			}
			if test.roots == nil {
				test.roots = []string{"app"}
			}
			p := s.plan(Background, test.roots...)
			if test.ongoing {
				p = s.ongoing(test.roots...)
			}
			set := lookup(t, p.Graph, "set")[0]
			deleters, _ := p.LinkDeleters(set)
			if got := names(p.Graph, deleters); got != test.deleters {
				t.Errorf("deleted because of %q, want %q", got, test.deleters)
			}
			if got := names(p.Graph, p.Sparing(map[graph.ID]bool{set: true})); got != test.want {
				t.Errorf("deleted all the same %q, want %q", got, test.want)
			}
		})
	}
}
