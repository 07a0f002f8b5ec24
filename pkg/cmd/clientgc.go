package cmd

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// clientGC does the collector's part of one deletion, for --gc=client. It writes to what the deletion takes along and to nothing else: to objects of
// the plan, and to dependents of what was deleted that have come up since.
type clientGC struct {
	f      *deleteFlags
	client *cluster.Client
	d      *deletion
	plans  func() []*plannedDeletion
	loop   *collect.Loop

	mu      sync.Mutex      // the loop tells while it asks
	cascade map[string]bool // uids of what is deleted
	events  []collect.Event
}

// collect is act's Collect.
func (c *clientGC) collect(ctx context.Context, sent []act.Done) error {
	if c.loop == nil {
		c.loop = c.newLoop(sent)
	}
	_, err := c.loop.Run(ctx)
	return err
}

func (c *clientGC) newLoop(sent []act.Done) *collect.Loop {
	c.cascade = map[string]bool{}
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
		}
	}
	for _, s := range sent {
		opts.Waiting = append(opts.Waiting, s.Graph.Ref(s.Object).UID)
	}
	opts.Agree = collect.AgreeToAll // may says what the deletion takes along
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

// may allows what the deletion takes along: the objects of the plan, and dependents of what goes.
func (c *clientGC) may(g *graph.Graph, id graph.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cascade[g.Ref(id).UID] {
		return true
	}
	for e := range g.Owners(id) {
		if c.cascade[g.Ref(e.Owner).UID] {
			return true
		}
	}
	return false
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
