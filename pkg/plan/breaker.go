package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

const (
	// manyReplaced is from how many owners of a kind on, all under names that other objects have now, something has happened to the cluster
	// and not to them: a backup was restored, and its references name uids that are no more (P-18).
	manyReplaced = 3
	// manyGone is from how many owners of a kind on it is suspicious that not one is alive.
	manyGone = 10
)

// Mass is a kind of owner that is gone all at once.
type Mass struct {
	Group, Kind string
	// Gone and Replaced are how many owners of the kind are referenced and are absent, or have lost their names to other objects; Alive how many
	// are alive.
	Gone, Replaced, Alive int
}

// Masses returns the kinds of owners that are gone all at once, by group and kind: as after a restored backup, or behind a server that lists
// nothing and says that it has nothing. Whoever collects their dependents had better be sure.
func (p *Plan) Masses() []Mass {
	type kind struct{ group, kind string }
	before := NewOverlay(p.Graph, p.options)
	counts := map[kind]*Mass{}
	counted := map[string]bool{}
	for i := range p.Graph.Len() {
		id := graph.ID(i)
		if before.Gone(id) {
			continue
		}
		for e := range p.Graph.Owners(id) {
			k := kind{(graph.Ref{APIVersion: e.APIVersion}).Group(), e.Kind}
			key := p.Graph.Ref(e.Owner).UID + "\x00" + k.group + "\x00" + k.kind
			if counted[key] {
				continue
			}
			counted[key] = true
			m := counts[k]
			if m == nil {
				m = &Mass{Group: k.group, Kind: k.kind}
				counts[k] = m
			}
			switch before.OwnerState(e) {
			case Absent:
				m.Gone++
			case Replaced:
				m.Replaced++
			case Solid, Waiting, Orphaning:
				m.Alive++
			}
		}
	}
	var masses []Mass
	for _, m := range counts {
		if m.Replaced >= manyReplaced && m.Replaced > m.Alive || m.Gone+m.Replaced >= manyGone && m.Alive == 0 {
			masses = append(masses, *m)
		}
	}
	slices.SortFunc(masses, func(a, b Mass) int { return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind)) })
	return masses
}

// Deletes returns how many deletes the plan has.
func (p *Plan) Deletes() int {
	n := 0
	for _, a := range p.Actions {
		if a.Verb == VerbDelete {
			n++
		}
	}
	return n
}
