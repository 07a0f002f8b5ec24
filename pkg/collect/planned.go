package collect

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Planned is a run that was planned and not performed. It is not safe for concurrent use.
type Planned struct {
	*Proposal
	request Request
	loop    *Loop
	tally   *Tally
	// leftAlone are objects that the plan has come to write to since the archive was written.
	leftAlone []graph.Ref
}

// Plan plans a run from a listing and live reads, and writes nothing. It refuses to take a kind for
// unserved of which anything says that it may still be served, and a namespace that does not exist.
func Plan(ctx context.Context, client *cluster.Client, r Request) (*Planned, error) {
	catalog, err := client.Discover(ctx)
	if err != nil {
		return nil, err
	}
	filter, err := selection.ParseTypeFilter(r.Types, nil, catalog)
	if err != nil {
		return nil, err
	}
	p := &Planned{request: r, tally: newTally(!r.Watch)}
	opts := r.options(filter.Shows(catalog))
	opts.OnEvent = func(e Event) {
		if news := p.tally.Add(e); news && r.OnEvent != nil {
			r.OnEvent(e)
		}
	}
	reader := cluster.NewReader(client, catalog)
	opts.Agree = func(ctx context.Context, proposal *Proposal) error {
		ReadDisks(ctx, reader, proposal.Plan, &proposal.Plan.Facts)
		return p.agree(ctx, proposal)
	}
	p.loop = New(client, opts)
	// Planning to the end of the cascade knows no context and may take long.
	p.Proposal, err = interrupt.Do(ctx, func() (*Proposal, error) { return p.loop.Propose(ctx) })
	if err != nil {
		return nil, err
	}
	if err := selection.NamespaceExists(ctx, client, catalog, p.Graph, r.Namespace); err != nil {
		return nil, err
	}
	if err := checkUnserved(p.Snapshot, r.Overrides); err != nil {
		return nil, err
	}
	ReadDisks(ctx, reader, p.Plan, &p.Plan.Facts)
	return p, context.Cause(ctx)
}

// Run plans a run, has it agreed to by Request.Agree and performs it. See Plan and Planned.Perform.
func Run(ctx context.Context, client *cluster.Client, r Request) (*Outcome, error) {
	p, err := Plan(ctx, client, r)
	if err != nil {
		return nil, err
	}
	return p.Perform(ctx)
}

// Refused returns the refusal with which Perform would end before its first write; nil if it would
// not.
func (p *Planned) Refused() error { return refusal(p.loop.Check(p.Proposal)) }

// crossNamespaceRefs says whether an object that may be written to has a reference to an owner in
// another namespace.
func (l *Loop) crossNamespaceRefs(g *graph.Graph) bool {
	for id := range g.IDs() {
		for e := range g.Owners(id) {
			if CrossNamespaceRef(g, e) && l.allows(g, id) {
				return true
			}
		}
	}
	return false
}

// UnreadError is the finding that objects could not be read live.
func UnreadError(unread []v1alpha1.Gap) error {
	if len(unread) == 0 {
		return nil
	}
	more := ""
	if n := len(unread) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return answer.Refuse(
		fmt.Errorf("incomplete: %s%s; objects that could not be read are kept, and so are their dependents",
			phrase.Shorten(unread[0].Message), more))
}
