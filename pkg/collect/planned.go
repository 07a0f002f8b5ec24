package collect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
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

// Request says what a run may write to, how long it goes on, and who agrees to it. The zero Request
// is one run over the whole cluster.
type Request struct {
	// Namespace, Selector and Types restrict what is written to; each is empty for everything. They
	// do not restrict what counts as evidence. Types are globs, as selection.ParseTypeFilter reads
	// them.
	Namespace string
	Selector  labels.Selector
	Types     []string
	// Overrides, MaxDeletes and AllowOwnerLoss are those of Options.
	Overrides      plan.Overrides
	MaxDeletes     int
	AllowOwnerLoss bool
	// Wait goes on until nothing is left that somebody else has to release, for Timeout at most; a
	// Timeout of zero has no limit.
	Wait    bool
	Timeout time.Duration
	// Watch goes on until the context ends.
	Watch bool
	// Archive, if not nil, is written after the plan was agreed to and before the first write. What
	// is not in it, or was changed since, is left alone.
	Archive *Archive
	// Agree is asked about the first plan before the first write, and again about each plan with a
	// Growth. Any error ends the run; ErrOnlyAgreed leaves what is new. If it is nil, the first
	// plan counts as agreed to, and one that has grown ends the run with a *GrownError.
	Agree func(context.Context, *Proposal) error
	// OnEvent, if not nil, is called with every write that was tried, one call at a time. With
	// Watch a write to an object that fails as before is told once.
	OnEvent func(Event)
	// Paused and Warned are those of Options; Paused is called only with Watch.
	Paused func(error)
	Warned func(dependent graph.Ref, err error)
}

// options are those of the loop. Types are what may be written to; nil is everything.
func (r *Request) options(types func(graph.Ref) bool) Options {
	opts := Options{
		List:  cluster.ListOptions{Namespace: r.Namespace, Selector: r.Selector},
		Allow: r.allow(types), Overrides: r.Overrides, MaxDeletes: r.MaxDeletes, AllowOwnerLoss: r.AllowOwnerLoss,
		Warned: r.Warned,
	}
	if r.Namespace != "" {
		opts.List.Fallback = []string{r.Namespace}
	}
	if r.Watch {
		opts.Paused = r.Paused
	}
	return opts
}

// allow says what the loop may write to; nil allows all.
func (r *Request) allow(types func(graph.Ref) bool) func(*graph.Graph, graph.ID) bool {
	if r.Namespace == "" && r.Selector == nil && types == nil {
		return nil
	}
	return func(g *graph.Graph, id graph.ID) bool {
		ref := g.Ref(id)
		return (r.Namespace == "" || ref.Namespace == r.Namespace) && (r.Selector == nil || g.Selected(id)) &&
			(types == nil || types(ref))
	}
}

// Incomplete is the finding that not everything was listed, or not every owner read; nil if all
// was.
func Incomplete(listed, unread []v1alpha1.Gap) error {
	var errs []error
	if len(listed) > 0 {
		errs = append(
			errs, answer.Refuse(
				errors.New("incomplete: objects of types that could not be listed are not collected, and finalizers are kept on owners that may have unlisted dependents")))
	}
	return errors.Join(append(errs, UnreadError(unread))...)
}

// Incomplete is the finding that the plan does not rest on everything; nil if it does.
func (s *Snapshot) Incomplete() error { return Incomplete(s.Gaps, s.Unread) }

// refusal makes a refusal with a hint of a breaker's error; other errors stay as they are.
func refusal(err error) error {
	var most *MaxDeletesError
	var loss *OwnerLossError
	switch {
	case errors.As(err, &most) && most.Done > 0:
		return answer.Refuse(fmt.Errorf("stopped after %s: %w", phrase.Count(most.Done, "delete"), most))
	case errors.As(err, &most):
		return answer.Refuse(answer.WithHint(fmt.Errorf("nothing was deleted: %w", most),
			"use -n, --types and -l to restrict what may be deleted"))
	case errors.As(err, &loss):
		return answer.Refuse(answer.WithHint(fmt.Errorf("nothing was deleted: %w", loss),
			"the objects of a restored backup refer to owners that no longer exist, and collecting would delete what was restored; if you want that, add --allow-mass-collection"))
	}
	return err
}

// ended words what ended a run; nil if it came to its end, or if a watch was ended by its context.
func (p *Planned) ended(ctx context.Context, err error) error {
	switch {
	case err == nil, ctx.Err() != nil && p.request.Watch:
		return nil
	case errors.Is(err, ErrMaxDeletes) && !errors.As(err, new(*MaxDeletesError)):
		return answer.Refuse(fmt.Errorf("stopped after %d deletes: --max-deletes allows no more", p.request.MaxDeletes))
	}
	return refusal(err)
}

// timeUp words that Request.Timeout has ended a run. Waiting says that its last listing shows
// deletions that wait for somebody else.
func (p *Planned) timeUp(waiting bool) error {
	after := p.request.Timeout
	switch {
	case !p.loop.answered: // and a loop that has listed nothing has written nothing
		return answer.Refuse(
			answer.WithHint(fmt.Errorf("timed out after %s, before the cluster was listed again: nothing was written", after),
				"use a longer --timeout"))
	case !waiting:
		return answer.Refuse(answer.WithHint(fmt.Errorf("timed out after %s, before the run was done", after),
			"run the command again, with a longer --timeout"))
	}
	return answer.Refuse(fmt.Errorf("timed out after %s; some deletions still wait for other controllers", after))
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
