package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// clientGC does the collector's part of one deletion, for --gc=client. It writes to the objects of the plans that were agreed to, with --archive to those of them
// that are in it, and to nothing else: dependents that have come up since are left alone.
type clientGC struct {
	f      *deleteFlags
	client *cluster.Client
	d      *deletion
	saved  *archive.Saved // nil without --archive
	plans  func() []*plannedDeletion
	loop   *collect.Loop

	mu      sync.Mutex // the loop tells while it asks
	agreed  map[string]bool
	cascade map[string]bool // uids of what is deleted
	orphans map[string]bool // uids of what is deleted with the policy Orphan
	left    map[string]leftObject
	events  []collect.Event
	unread  []v1alpha1.Gap // what the last run of the loop could not read
}

// leftObject is a dependent of what is deleted that is not in the plan.
type leftObject struct {
	graph.Ref
	t graph.Type
}

// errWaitsForOthers ends a wait that would have no end.
var errWaitsForOthers = errors.New("stopped: what was deleted waits for dependents that are not in the plan")

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
	c.agreed, c.cascade, c.orphans, c.left = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]leftObject{}
	plans := c.plans()
	opts := collect.Options{List: plans[0].listing, May: c.may, Tell: c.tell, Observe: collect.ObserveTime}
	opts.List.Progress = nil
	if c.f.propagateGrace {
		opts.GracePeriodSeconds = c.d.grace
	}
	for _, p := range plans {
		for _, id := range slices.Concat(p.Deleted, p.Roots) {
			c.cascade[p.Graph.Ref(id).UID] = true
			if d, ok := definition(p.Plan.Plan, id); ok {
				opts.Definitions = append(opts.Definitions, d)
			}
			c.agree(p.Graph.Ref(id).UID)
		}
		for _, a := range p.Actions {
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
	loop := collect.New(c.client, opts)
	for _, p := range plans {
		loop.Agreed(p.Plan.Plan)
	}
	return loop
}

// definition returns a definition of the plan with the instances that it had.
func definition(p *plan.Plan, id graph.ID) (collect.Definition, bool) {
	instances := p.Instances(id)
	if len(instances) == 0 {
		return collect.Definition{}, false
	}
	t, _ := p.Graph.Type(instances[0])
	d := collect.Definition{Object: p.Graph.Ref(id), Type: t, Instances: map[string]bool{}}
	for _, i := range instances {
		d.Instances[p.Graph.Ref(i).UID] = true
	}
	return d, true
}

func (c *clientGC) agree(uid string) {
	if c.saved == nil || c.saved.Has(uid) {
		c.agreed[uid] = true
	}
}

// may allows what was agreed to: the objects of the plans. A dependent of what goes that is not among them is left alone and remembered. Without an archive,
// the references to what is deleted with the policy Orphan may be removed from it: that is what the policy is for.
func (c *clientGC) may(g *graph.Graph, id graph.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ref := g.Ref(id)
	if c.agreed[ref.UID] {
		return true
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

// waitsForLeft says whether something that is being deleted waits for a dependent that is left alone: for it to go, or to lose its reference.
func (c *clientGC) waitsForLeft(g *graph.Graph) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for uid := range c.left {
		id, ok := g.Lookup(uid)
		if !ok || !g.Seen(id) {
			continue
		}
		for e := range g.Owners(id) {
			if !c.cascade[g.Ref(e.Owner).UID] || g.State(e.Owner) != graph.Deleting {
				continue
			}
			finalizers := g.Finalizers(e.Owner)
			if e.Block && slices.Contains(finalizers, plan.ForegroundFinalizer) || slices.Contains(finalizers, plan.OrphanFinalizer) {
				return true
			}
		}
	}
	return false
}

// leftAlone are the dependents of what was deleted that are not in the plan and still there, as far as that can be found out.
func (c *clientGC) leftAlone(ctx context.Context) []graph.Ref {
	c.mu.Lock()
	defer c.mu.Unlock()
	var left []graph.Ref
	for uid, l := range c.left {
		now, err := c.client.Get(ctx, l.t, l.Namespace, l.Name)
		if cluster.IsAbsent(err, l.t, l.Name) || err == nil && (now.UID != uid || !slices.ContainsFunc(now.Owners, func(r graph.OwnerReference) bool { return c.cascade[r.UID] })) {
			continue
		}
		left = append(left, l.Ref)
	}
	slices.SortFunc(left, func(a, b graph.Ref) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return left
}

// because says why dependents are left alone.
func (c *clientGC) because() string {
	if c.saved != nil {
		return "left alone: a dependent of what was deleted that is not in the plan, and not in the archive"
	}
	return "left alone: a dependent of what was deleted that is not in the plan"
}

// leftAloneError is the finding that there are some.
func (c *clientGC) leftAloneError(left []graph.Ref) error {
	if len(left) == 0 {
		return nil
	}
	var names []string
	for _, ref := range left {
		names = append(names, shortName(ref))
	}
	where := "plan"
	if c.saved != nil {
		where = "plan and not in the archive"
	}
	return refusal{withHint(fmt.Errorf("left alone, because not in the %s: %s", where, enumerate(names)),
		"the owners are deleted: delete these by name, or kubectl gc run collects them")}
}

func (c *clientGC) tell(e collect.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, e)
	if e.Err == nil && e.Action.Verb == plan.VerbDelete {
		c.cascade[e.Action.Object.UID] = true // whose dependents go along
	}
	if e.Err == nil && !c.f.wait && c.f.output.isOwn() && c.f.output.format() != "name" {
		fmt.Fprintln(c.f.Out, actionLine(e.Action)) // with a wait it is told when it is gone
	}
}

// errors are what writes met.
func (c *clientGC) errors() []error { return eventErrors(c.events) }

// warnNamespaces says what --gc=client does not do.
func (f *deleteFlags) warnNamespaces(p *plannedDeletion) {
	for _, id := range p.Roots {
		if r := p.Graph.Ref(id); r.Resource == "namespaces" && r.Group() == "" {
			fmt.Fprintf(f.ErrOut, "Warning: %s is emptied and ended by the namespace controller of kube-controller-manager; --gc=client does the garbage collector's part only\n", withNamespace(r, " in "))
		}
	}
}
