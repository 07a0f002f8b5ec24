package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

func newRun(c *common) *cobra.Command {
	f := &runFlags{common: c, output: newOutputFlags("wide", "name")}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the garbage collector's loop once, from here",
		Long: `Do what the cluster's garbage collector would do, until nothing is left that it can do.

It lists everything that can be deleted, finds the objects whose owners are gone, those that owners wait for, and those that
are to be orphaned, prints the plan, asks, and does it: deletes, takes references off, and takes the collector's own finalizers
off, all by the collector's rules. It is for clusters whose collector is off, wedged or behind, and for control planes that
have none. Beside a collector that works it does no harm, and finds nothing to do.

That an owner is gone is proven by reading it, never by a list: what could not be listed or read is unknown, and what is
unknown is kept. Every write carries the uid and the resourceVersion of what was judged. A finalizer of the
collector comes off only if no dependent can be hidden in a gap.

It does what the plan says and nothing else. Before each pass it plans again; if more would be deleted than you agreed to, it shows
the new plan and asks again. With --yes, or without a terminal, it stops there. With --watch, --yes agrees to whatever comes up.

It refuses a pass when most owners of a kind are gone at once, as after a backup was restored; --allow-mass-collection collects
their dependents too. With --watch it says so, writes nothing in that pass, and keeps watching.

Exit code 2 means that it was refused, that something could not be listed or read, or that something was still there after --timeout.`,
		Example: `  # What is there to collect, in the whole cluster?
  kubectl gc run --dry-run

  # Collect in one namespace
  kubectl gc run -n shop

  # Be the collector of a control plane that has none, until Ctrl-C
  kubectl gc run --yes --watch`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(cmd, "run takes no arguments; -n, --types and -l restrict what it may write to")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := f.parse(cmd)
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), r)
		},
	}
	f.add(cmd)
	return cmd
}

// runRequest is what the flags come to.
type runRequest struct {
	namespace string // empty for everywhere
	selector  labels.Selector
	terms     plan.Terms
	timeout   time.Duration
}

func (f *runFlags) run(ctx context.Context, r *runRequest) error {
	client, err := f.client()
	if err != nil {
		return err
	}
	catalog, err := interruptible(ctx, client.Discover)
	if err != nil {
		return err
	}
	filter, err := parseTypeFilter(f.types, nil, catalog)
	if err != nil {
		return err
	}
	opts := collect.Options{
		List:  cluster.ListOptions{Namespace: r.namespace, Selector: r.selector},
		May:   r.may(filter.shows(catalog)),
		Terms: r.terms, MaxDeletes: f.maxDeletes, AllowMass: f.allowMass,
		Agree: f.agree,
	}
	if r.namespace != "" {
		opts.List.Fallback = []string{r.namespace}
	}
	out := newRunTeller(f)
	opts.Tell = out.tell
	if f.watch {
		opts.Paused = out.paused
	}
	if f.events {
		opts.Warned = out.warned
	}
	loop := collect.New(client, opts)
	proposal, err := interruptible(ctx, func() (*collect.Proposal, error) { return loop.Propose(ctx) })
	if err != nil {
		return err
	}
	if err := f.checkGone(proposal.Survey, r.terms); err != nil {
		return err
	}
	planned := newPlannedRun(proposal, opts.May)
	warnGaps(f.ErrOut, proposal.Gaps)
	warnUnread(f.ErrOut, proposal.Unread)
	if f.dryRun != "none" {
		return errors.Join(f.show(planned), f.refused(loop.Check(proposal)), incomplete(proposal.Gaps, proposal.Unread))
	}
	if len(planned.Actions) == 0 && !f.watch && !(f.wait && len(pending(planned.left)) > 0) {
		if f.events && len(misplaced(planned.Graph, opts.May)) > 0 { // the flag asks for them; there is no plan to ask about
			loop.Agreed(planned.Plan.Plan) // nothing else is written
			return f.perform(ctx, client, loop, out, r)
		}
		return f.nothing(planned)
	}
	if err := f.confirm(ctx, planned, f.refused(loop.Check(proposal))); err != nil {
		return err
	}
	loop.Agreed(planned.Plan.Plan)
	return f.perform(ctx, client, loop, out, r)
}

// may says what the loop may write to.
func (r *runRequest) may(shows func(graph.Ref) bool) func(*graph.Graph, graph.ID) bool {
	if r.namespace == "" && r.selector == nil && shows == nil {
		return nil
	}
	return func(g *graph.Graph, id graph.ID) bool {
		ref := g.Ref(id)
		return (r.namespace == "" || ref.Namespace == r.namespace) && (r.selector == nil || g.Selected(id)) && (shows == nil || shows(ref))
	}
}

// plannedRun is a plan of a run with what it rests on.
type plannedRun struct {
	plannedDeletion
	left []plan.Survivor
	// listed and unread are the gaps of the listing, and those of live reads.
	listed, unread []v1alpha1.Gap
}

// newPlannedRun returns a plan as it is shown.
func newPlannedRun(proposal *collect.Proposal, may func(*graph.Graph, graph.ID) bool) *plannedRun {
	var mayWrite func(graph.ID) bool
	if may != nil {
		mayWrite = func(id graph.ID) bool { return may(proposal.Graph, id) }
	}
	p := &plannedRun{left: proposal.Plan.End().Residue(mayWrite), listed: proposal.Gaps, unread: proposal.Unread}
	p.gaps, p.positions = slices.Concat(proposal.Gaps, proposal.Unread), proposal.Positions
	p.Plan = render.Plan{Plan: proposal.Plan, Rows: runRows(proposal.Plan), Gaps: p.gaps}
	return p
}

// runRows are the objects that something is done to, under the owners because of which.
func runRows(p *plan.Plan) []graph.Row {
	shown := map[graph.ID]bool{}
	var ids []graph.ID
	show := func(id graph.ID) {
		if !shown[id] {
			shown[id] = true
			ids = append(ids, id)
		}
	}
	for _, a := range p.Actions {
		if a.Because.HasCause {
			show(a.Because.Cause)
		}
		show(a.Object)
	}
	return p.Graph.Tree(p.Graph.Heads(ids), graph.TreeOptions{Depth: -1, Show: func(id graph.ID) bool { return shown[id] }})
}

// nothing says that there is nothing to do, and what is left for others.
func (f *runFlags) nothing(p *plannedRun) error {
	if !f.output.isOwn() {
		if err := f.output.write(f.Out, f.result(nil, p.Graph, p.left, p.gaps)); err != nil {
			return err
		}
	} else if f.output.format() != "name" {
		fmt.Fprintln(f.Out, p.nothing())
		f.leftovers(p.Graph, p.left)
	}
	return incomplete(p.listed, p.unread)
}

func (p *plannedRun) nothing() string {
	switch {
	case len(p.listed) > 0:
		return "nothing to collect among what could be listed"
	case len(p.unread) > 0:
		return "nothing to collect among what could be read"
	}
	return "nothing to collect"
}

// incomplete is the finding that not everything was listed, or not every owner read.
func incomplete(listed, unread []v1alpha1.Gap) error {
	var errs []error
	if len(listed) > 0 {
		errs = append(errs, refusal{errors.New("incomplete: what could not be listed is not collected, and owners that may have dependents there keep their finalizers")})
	}
	return errors.Join(append(errs, unreadError(unread))...)
}
