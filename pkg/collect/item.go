package collect

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// judged is an object with what is known of each of its owners.
type judged struct {
	id     graph.ID
	item   plan.Item
	refs   []graph.Edge
	policy plan.Policy
	cause  plan.Code
	owner  graph.Ref
}

// item does what attemptToDeleteItem does: judge the owners, decide, act. The listing is what was read of the object; the write carries its
// resourceVersion, so what was judged is what is written to (RO-003).
func (p *pass) item(ctx context.Context, id graph.ID) {
	if _, inCycle := p.graph.Cycle(id); inCycle {
		p.cycles.Lock()
		defer p.cycles.Unlock()
	}
	if p.stripLate(ctx, id) {
		return
	}
	item, refs, states, ok := p.judge(ctx, id)
	if !ok || item.Deleting {
		return
	}
	item.Owners = states
	j := judged{id: id, item: item, refs: refs}
	verdict := plan.Decide(item, plan.Loop)
	j.explain(p.graph, verdict)
	switch verdict.Do {
	case plan.Delete:
		if verdict.Unblock && !p.unblock(ctx, id, refs, plan.MayBeCycle, j.owner) {
			return
		}
		j.policy = verdict.Policy
		p.delete(ctx, j)
	case plan.Strip:
		var strip []graph.Edge
		for _, i := range verdict.Strip {
			strip = append(strip, refs[i])
		}
		p.strip(ctx, id, strip, j.cause, j.owner)
	}
}

// judge returns an object with its references and what is known of the owner that each names. It is false if the context has ended.
func (p *pass) judge(ctx context.Context, id graph.ID) (plan.Item, []graph.Edge, []plan.OwnerState, bool) {
	p.mu.Lock()
	item, refs := p.overlay.Item(id)
	states := make([]plan.OwnerState, len(refs))
	for i, e := range refs {
		states[i] = p.overlay.OwnerState(e)
	}
	p.mu.Unlock()
	if !item.Deleting && !slices.Contains(states, plan.Orphaning) && p.worthProving(refs, states) {
		for i, e := range refs {
			if states[i] != plan.Solid && states[i] != plan.BadScope {
				proven := p.prove(ctx, e)
				p.change(func(o *plan.Overlay) { o.Prove(e, proven) })
				states[i] = p.loop.opts.Terms.Judge(e, proven)
			}
		}
		if slices.Contains(states, plan.Orphaning) {
			p.again() // whose listing shows that the owner waits
		}
	}
	return item, refs, states, ctx.Err() == nil
}

// worthProving says whether there is anything that a live read could lead to: an object that nothing but solid owners or references that nobody
// can judge are left of costs no read.
func (p *pass) worthProving(refs []graph.Edge, states []plan.OwnerState) bool {
	var solid, open, unresolvable bool
	for i, s := range states {
		switch {
		case s == plan.Solid:
			solid = true
		case s == plan.BadScope, s == plan.Unknown && !p.resolvable(refs[i]):
			unresolvable = true
		default:
			open = true
		}
	}
	return open && (solid || !unresolvable)
}

// resolvable says whether there is a way to judge what a reference names.
func (p *pass) resolvable(e graph.Edge) bool {
	if e.Problem&(graph.Unresolvable|graph.InexactKind) == 0 {
		return true
	}
	uid := p.graph.Ref(e.Owner).UID
	for _, d := range p.loop.opts.Definitions {
		if d.Instances[uid] {
			return true
		}
	}
	return false
}

// explain names the owner because of which something is done.
func (j *judged) explain(g *graph.Graph, v plan.Verdict) {
	for i, e := range j.refs {
		s := j.item.Owners[i]
		switch {
		case v.Do == plan.Strip && s == plan.Solid:
			j.cause, j.owner = plan.OwnedByAnother, g.Ref(e.Owner)
			return
		case v.Do == plan.Delete && s == plan.Waiting:
			j.cause, j.owner = plan.OwnerWaiting, g.Ref(e.Owner)
			return
		case v.Do == plan.Delete && j.cause == "":
			j.cause, j.owner = plan.OwnersGone, g.Ref(e.Owner)
		}
	}
}
