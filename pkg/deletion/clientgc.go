package deletion

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// clientGC does the collector's part of one deletion, for ClientGC. It writes to the objects of the
// plans that were agreed to, with an archive to those of them that are in it, and to nothing else:
// dependents that have come up since are left alone, and so is what only an unconfirmed link leads
// to.
type clientGC struct {
	planner *planner
	saved   *archive.Saved    // nil without an archive
	plans   func() []*Planned // that were agreed to
	opts    Options
	loop    *collect.Loop

	mu      sync.Mutex // the loop tells while it asks
	agreed  map[string]bool
	cascade map[string]bool // uids of what is deleted
	orphans map[string]bool // uids of what is deleted with the policy Orphan
	left    map[string]leftObject
	events  []plan.Event
	unread  []v1alpha1.Gap // what the last run of the loop could not read
}

// leftObject is a dependent of what is deleted that is not in the plan.
type leftObject struct {
	graph.Ref
	t graph.Type
}

// errWaitsForOthers ends a wait that would have no end.
var errWaitsForOthers = errors.New("stopped: the deleted objects wait for dependents that are not in the plan")

// collect is act's Collect.
func (c *clientGC) collect(ctx context.Context, sent []act.Done) error {
	if c.loop == nil {
		c.loop = c.newLoop(sent)
	}
	summary, err := c.loop.Run(ctx)
	if summary != nil {
		c.unread = summary.Unread
	}
	if err == nil && c.waitsForLeft(summary.Graph) {
		err = errWaitsForOthers
	}
	return err
}

func (c *clientGC) newLoop(sent []act.Done) *collect.Loop {
	c.agreed, c.cascade, c.orphans, c.left = map[string]bool{}, map[string]bool{}, map[string]bool{},
		map[string]leftObject{}
	plans := c.plans()
	opts := collect.Options{List: plans[0].Snapshot.Options, Allow: c.may, OnEvent: c.tell, Observe: collect.ObserveTime}
	opts.List.Progress = nil
	if c.planner.request.PropagateGracePeriod {
		opts.GracePeriodSeconds = c.planner.request.GracePeriodSeconds
	}
	for _, p := range plans {
		for _, id := range slices.Concat(p.Deleted, p.Roots) {
			c.cascade[p.Graph.Ref(id).UID] = true
			if !p.Belongs(id) {
				continue
			}
			if d, ok := crd(p.Plan, id); ok {
				opts.CRDs = append(opts.CRDs, d)
			}
			c.agree(p.Graph.Ref(id).UID)
		}
		for _, a := range p.Actions {
			if !p.Belongs(a.Object) {
				continue
			}
			c.agree(p.Graph.Ref(a.Object).UID)
			if a.Verb == plan.VerbDelete && a.Policy == plan.Orphan {
				c.orphans[p.Graph.Ref(a.Object).UID] = true
			}
		}
	}
	for _, s := range sent {
		opts.Waiting = append(opts.Waiting, s.Graph.Ref(s.Object).UID)
	}
	opts.Agree = c.onlyAgreed
	loop := collect.New(c.planner.client, opts)
	for _, p := range plans {
		loop.Agreed(p.Plan)
	}
	return loop
}

// crd returns a CRD of the plan with the instances that it had.
func crd(p *plan.Plan, id graph.ID) (collect.CRD, bool) {
	instances := p.Instances(id)
	if len(instances) == 0 {
		return collect.CRD{}, false
	}
	t, _ := p.Graph.Type(instances[0])
	d := collect.CRD{Object: p.Graph.Ref(id), Type: t, Instances: p.Graph.UIDs(instances)}
	return d, true
}

func (c *clientGC) agree(uid string) {
	if c.saved == nil || c.saved.Has(uid) {
		c.agreed[uid] = true
	}
}

// may allows what was agreed to: the objects of the plans. A dependent of what goes that is not
// among them is left alone and remembered. Without an archive, the references to what is deleted
// with the policy Orphan may be removed from it: that is what the policy is for.
func (c *clientGC) may(g *graph.Graph, id graph.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ref := g.Ref(id)
	if c.agreed[ref.UID] {
		return true
	}
	if t, ok := g.Type(id); ok && c.cascade[ref.UID] {
		c.left[ref.UID] = leftObject{ref, t}
	}
	for e := range g.Owners(id) {
		owner := g.Ref(e.Owner).UID
		if c.saved == nil && c.orphans[owner] {
			return true
		}
		if c.cascade[owner] {
			t, _ := g.Type(id)
			c.left[ref.UID] = leftObject{ref, t}
		}
	}
	return false
}

// onlyAgreed is the loop's Agree: what goes beyond the plans is left alone and remembered.
func (c *clientGC) onlyAgreed(_ context.Context, p *collect.Proposal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range slices.Concat(p.Growth.Deleted, p.Growth.Written) {
		t, _ := p.Graph.Type(id)
		c.left[p.Graph.Ref(id).UID] = leftObject{p.Graph.Ref(id), t}
	}
	return collect.ErrOnlyAgreed
}

// waitsForLeft reports whether something that is being deleted waits for a dependent that is left
// alone: for it to go, or to lose its reference.
func (c *clientGC) waitsForLeft(g *graph.Graph) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for uid := range c.left {
		id, ok := g.Lookup(uid)
		if !ok || !g.Observed(id) {
			continue
		}
		if own := g.Finalizers(id); c.cascade[uid] && slices.ContainsFunc(own, plan.IsCollectors) {
			return true // it waits for the collector's part, which is not this command's
		}
		for e := range g.Owners(id) {
			if !c.cascade[g.Ref(e.Owner).UID] || g.State(e.Owner) != graph.Deleting {
				continue
			}
			finalizers := g.Finalizers(e.Owner)
			if e.Block && slices.Contains(finalizers, plan.ForegroundFinalizer) ||
				slices.Contains(finalizers, plan.OrphanFinalizer) {
				return true
			}
		}
	}
	return false
}

func (c *clientGC) tell(e plan.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, e)
	if e.Err == nil && e.Action.Verb == plan.VerbDelete {
		c.cascade[e.Action.Object.UID] = true // whose dependents go along
	}
	if c.opts.OnWrite != nil {
		c.opts.OnWrite(e.Action.Printed(plan.ByCollector), e.Err)
	}
	if c.opts.OnCollect != nil {
		c.opts.OnCollect(e)
	}
}
