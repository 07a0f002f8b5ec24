package collect

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// part is what a pass looks at: the objects that are due, all that depends on them, and what is
// being deleted, of which a listing around them has all dependents (cluster.Store.List). Other
// objects are evidence only. Nil is all there is.
type part map[graph.ID]bool

// newPart returns the part that is due.
func newPart(g *graph.Graph, due []string) part {
	of := part{}
	var open []graph.ID
	add := func(id graph.ID) {
		if !of[id] {
			of[id] = true
			open = append(open, id)
		}
	}
	for _, uid := range due {
		if id, ok := g.Lookup(uid); ok {
			add(id)
		}
	}
	for id := range g.IDs() {
		if g.DeletionTimestamp(id) != 0 {
			add(id)
		}
	}
	for len(open) > 0 {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		for e := range g.Dependents(id) {
			add(e.Dependent)
		}
	}
	return of
}

// allows says whether the pass may write to an object.
func (p *pass) allows(id graph.ID) bool {
	return (p.part == nil || p.part[id]) && p.loop.allows(p.graph, id)
}

// reportFor is how long Watch takes at most, when it has ended, to find out what is left of all
// there is.
const reportFor = 2 * time.Second

// whole returns what a watch that has ended leaves: of all that the store holds, and not of the
// part that the last pass has looked at.
func (l *Loop) whole(ctx context.Context, last *Result) *Result {
	if last == nil || !last.part {
		return last
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportFor)
	defer cancel()
	p, err := l.held(ctx, nil)
	if err == nil {
		err = p.readOwners(ctx)
	}
	if err != nil {
		last.Gaps = append(last.Gaps, v1alpha1.Gap{Resource: "*", Reason: v1alpha1.GapUnavailable,
			Message: fmt.Sprintf("finding out what is left: %v", err)})
		return last
	}
	p.result.Unread = p.unread.besides(p.result.Gaps)
	p.result.NotDeleted = p.projection.NotDeleted(p.allows)
	return &p.result
}
