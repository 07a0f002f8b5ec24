package actor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// maxAlike is how many workloads are looked at that are recognised in the same way.
const maxAlike = 10

// alike is a workload that may be the component's.
type alike struct {
	cluster.Workload
	by likeness
}

// elsewhere looks for the component's workloads in the whole cluster: installations rename them and
// put them into other namespaces. Where it has been found in its usual place and does not live,
// another of the same name and image may.
func (s *search) elsewhere(ctx context.Context) {
	of := featuresOf(s)
	if len(of.names)+len(of.images)+len(of.slugs) == 0 {
		return
	}
	counts := func(by likeness, _ cluster.Workload) bool { return by <= byProduct }
	if len(s.workloads)+len(s.apart) > 0 { // a name alone is nothing against what was found
		counts = func(by likeness, w cluster.Workload) bool { return by <= byRelease && of.image(w) }
	}
	all, complete := s.recognised(ctx, of, counts)
	if complete && len(all) == 0 {
		s.seek(fmt.Sprintf("workload %s with the name, image or label %s", s.where(), phrase.Or(of.words(s.known.Component))))
	}
	if len(all) > 0 && all[0].by > byRelease {
		s.parts(ctx, all)
		return
	}
	for _, w := range all {
		s.take(ctx, w, &s.signs)
	}
}

// recognised returns the workloads that are recognised in the surest way of those that there are
// and count, and whether all workloads could be looked at. A type of workload that the pack does
// not name counts where none of those that it names is there.
func (s *search) recognised(ctx context.Context, of features,
	counts func(likeness, cluster.Workload) bool) (surest []alike, complete bool) {
	complete = true
	var reading sync.WaitGroup
	for _, t := range workloadTypes {
		reading.Go(func() { _, _ = s.reader.Workloads(ctx, t.resource) }) // remembered, with its error
	}
	reading.Wait()
	var all []alike
	usual := map[schema.GroupResource]bool{}
	for _, t := range workloadTypes {
		usual[t.resource] = len(t.names(s.alive)) > 0
		workloads, err := s.reader.Workloads(ctx, t.resource)
		if err != nil {
			complete = false
			s.missed("%s cannot be listed in all namespaces: %v", t.resource, err)
		}
		for _, w := range workloads {
			if by := of.of(w); counts(by, w) && s.belongs(w.Namespace, w.Labels, w.PodLabels) {
				all = append(all, alike{w, by})
			}
		}
	}
	other := func(w alike) int {
		if len(of.names) > 0 && !usual[w.Resource] && w.by > byName {
			return 1
		}
		return 0
	}
	order := func(a, b alike) int { return cmp.Or(cmp.Compare(other(a), other(b)), cmp.Compare(a.by, b.by)) }
	slices.SortStableFunc(all, order)
	for i, w := range all {
		if i == maxAlike || w.by > byRelease && order(all[0], w) != 0 {
			break
		}
		surest = append(surest, w)
	}
	return surest, complete
}

// take reads a workload that was recognised, and says into signs what it shows.
func (s *search) take(ctx context.Context, w alike, into *signs) {
	o, err := s.reader.GetObject(ctx, w.Resource, w.Namespace, w.Name)
	if err != nil {
		s.missed("%s %s/%s cannot be read: %v", w.Resource, w.Namespace, w.Name, err)
	}
	if err != nil || o == nil {
		return
	}
	part := search{Finder: s.Finder, about: s.about, known: s.known, alive: s.alive, node: s.node, signs: signs{}}
	part.workload(ctx, o)
	part.recognisedAs(w.by)
	into.merge(part.signs)
}

// parts takes in workloads that are recognised by something that several parts of an installation
// share. If some live and some do not, nothing is known of the one that matters; nor if they are
// only parts of the product.
func (s *search) parts(ctx context.Context, all []alike) {
	var together signs
	for _, w := range all {
		s.take(ctx, w, &together)
	}
	if len(together.alive) > 0 && (len(together.dead)+len(together.unsure) > 0 || all[0].by == byProduct) {
		together.unsure = slices.Concat(together.alive, together.dead, together.unsure)
		together.alive, together.dead = nil, nil
	}
	s.merge(together)
}
