package deletion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// arrange plans with what is known of those who remove finalizers: in stages, if that was asked
// for.
func (pl *planner) arrange(known *finalizer.Registry, p *Planned) *plan.Plan {
	if !pl.request.Ordered {
		return p.With(p.needs)
	}
	ordered := p.Ordered(plan.Ordering{
		Needs: p.releases,
		First: func(id graph.ID) bool {
			return !cluster.BuiltIn(p.Graph.Ref(id).Group()) || waitsForOthers(known, p.Graph, id)
		},
		Workload: func(id graph.ID) bool { return isOf(p.Graph.Ref(id), workloadTypes) },
	})
	if len(p.unserved) == 0 {
		return ordered
	}
	return ordered.With(p.needs) // no order helps a namespace without discovery
}

// waitsForOthers reports whether an object has a finalizer that no part of the control plane
// removes, as far as is known.
func waitsForOthers(known *finalizer.Registry, g *graph.Graph, id graph.ID) bool {
	ref := g.Ref(id)
	return slices.ContainsFunc(g.Finalizers(id), func(name string) bool {
		if plan.IsCollectors(name) {
			return false
		}
		if known == nil {
			return true
		}
		k, ok := known.Lookup(name, ref.Group(), ref.Kind)
		return !ok || k.Fallback || k.Alive.HasWorkloads() || k.Alive.Follow != ""
	})
}

// unordered is the refusal of a deletion that has no order; nil if it has one.
func (p *Planned) unordered() error {
	cycle := p.OrderCycle()
	if len(cycle) == 0 {
		return nil
	}
	return answer.Refuse(answer.WithHint(fmt.Errorf("nothing was deleted: there is no order in which it can be: %s",
		p.OrderSentence()),
		"leave one of them out and delete it afterwards, or remove its finalizers with kubectl gc unfinalize"))
}

// OrderSentence says which objects wait for each other, so that their deletion has no order; empty
// if it has one.
func (p *Planned) OrderSentence() string {
	cycle := p.Graph.Refs(p.OrderCycle())
	switch len(cycle) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("this deletion also deletes the controller that %s needs", cycle[0].Located())
	}
	var parts []string
	for i, ref := range cycle {
		parts = append(parts, fmt.Sprintf("%s has to be deleted before %s", ref.Located(), cycle[(i+1)%len(cycle)].Located()))
	}
	return strings.Join(parts, ", ")
}

// performStages carries out an ordered deletion stage by stage. Each stage is planned from a
// listing of its own, and begins when all is gone that the one before deletes.
func (p *Planned) performStages(ctx context.Context, opts Options, saved *archive.Saved) (*Result, error) {
	s := &stages{replanner: replanner{planner: p.planner, opts: opts, saved: saved, agreed: []*Planned{p}}, whole: p,
		result: &Result{Planned: p, Archived: saved != nil}, gone: map[string]bool{}}
	if opts.Timeout > 0 {
		s.opts.until = time.Now().Add(opts.Timeout)
	}
	next := p
	for n := 1; ; n++ {
		of := n - 1 + len(next.Stages())
		stage := next.firstStage()
		if opts.OnStage != nil {
			opts.OnStage(n, of, stage)
		}
		if err := s.perform(ctx, stage); err != nil {
			return s.result, inStage(n, of, err)
		}
		if n == of {
			return s.result, nil
		}
		deleted := next.Stages()[0].Deleted
		s.deleted = next.Graph.Refs(deleted)
		maps.Copy(s.gone, next.Graph.UIDs(deleted))
		var err error
		if next, err = s.next(ctx); err != nil || next.Empty() {
			return s.result, inStage(n+1, of, err)
		}
	}
}

// stages is an ordered deletion that is under way.
type stages struct {
	replanner
	whole  *Planned
	result *Result
	// deleted is what the last stage has deleted, and gone are the uids of what all have.
	deleted []graph.Ref
	gone    map[string]bool
}

// inStage says in errors which stage they are of. Those after it have not begun.
func inStage(n, of int, err error) error {
	if err == nil {
		return nil
	}
	var all []error
	for _, err := range answer.Flatten(err) {
		all = append(all, fmt.Errorf("stage %d of %d: %w", n, of, err))
	}
	if hint := answer.Hint(err); n < of && (hint == "" || hint == hintLeft || hint == hintUntold) {
		all[0] = answer.WithHint(all[0], "the later stages have not begun; the same command goes on where this one stopped")
	}
	return errors.Join(all...)
}

// firstStage is the plan of the first stage alone.
func (p *Planned) firstStage() *Planned {
	stage, pl := *p, *p.planner
	pl.request.Ordered, pl.besides = false, map[string]bool{}
	stage.Plan, stage.planner = p.FirstStage(), &pl
	for _, id := range stage.Roots {
		if !slices.Contains(p.Roots, id) {
			pl.besides[p.Graph.Ref(id).UID] = true
		}
	}
	return &stage
}

// meant reports whether an object that was changed is still one of those that are to be deleted.
func (pl *planner) meant() func(context.Context, graph.Type, graph.Ref) (bool, error) {
	matches := pl.request.Selection.StillMatches(pl.client)
	if matches == nil || len(pl.besides) == 0 {
		return matches
	}
	return func(ctx context.Context, t graph.Type, ref graph.Ref) (bool, error) {
		if pl.besides[ref.UID] {
			return true, nil
		}
		return matches(ctx, t, ref)
	}
}

// perform carries out one stage, and adds what came of it.
func (s *stages) perform(ctx context.Context, stage *Planned) error {
	opts := s.opts
	if until := time.Now().Add(opts.StageTimeout); opts.StageTimeout > 0 &&
		(opts.until.IsZero() || until.Before(opts.until)) {
		opts.Timeout, opts.until = opts.StageTimeout, until
	}
	r, err := stage.perform(ctx, opts, s.saved)
	s.add(r)
	return errors.Join(err, unseenError(r.Unseen))
}

// add adds what came of a stage.
func (s *stages) add(r *Result) {
	all := s.result
	if all.Result == nil {
		all.Result = r.Result
	} else {
		of := all.Result
		of.Done, of.Failed, of.Skipped = append(of.Done, r.Done...), append(of.Failed, r.Failed...),
			append(of.Skipped, r.Skipped...)
		of.Orphaned, of.Unseen, of.Unplanned = append(of.Orphaned, r.Orphaned...), append(of.Unseen, r.Unseen...),
			append(of.Unplanned, r.Unplanned...)
		of.Kept = append(of.Kept, r.Kept...)
		of.Blocked, of.Declined = r.Blocked, r.Declined
	}
	all.Collected, all.Unread, all.LeftAlone = append(all.Collected, r.Collected...), append(all.Unread, r.Unread...),
		append(all.LeftAlone, r.LeftAlone...)
	all.Deadlocked, all.Unchecked, all.TimedOut = append(all.Deadlocked, r.Deadlocked...),
		append(all.Unchecked, r.Unchecked...), r.TimedOut
	planned := s.whole.Graph.UIDs(s.whole.Deleted)
	all.Unplanned = slices.DeleteFunc(all.Unplanned, func(ref graph.Ref) bool { return planned[ref.UID] })
}

// next is the plan of what is left, with the types that are served now, once that was agreed to.
func (s *stages) next(ctx context.Context) (*Planned, error) {
	next, err := s.planRest(ctx)
	switch {
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.Canceled):
		return nil, context.Cause(ctx)
	case ctx.Err() != nil:
		return nil, errors.New("interrupted before it began")
	case err == nil && len(next.LeftOut) > 0:
		left := next.LeftOut[0]
		return nil, answer.Refuse(fmt.Errorf("not begun: %s is left alone: %w", left.Object.Located(), left.Err))
	case err != nil || next.Empty():
		return next, err
	}
	change := &Change{Growth: next.beyondStages(s.plans()), graph: next.Graph}
	switch err := s.notBegun(next); {
	case err != nil:
		return nil, err
	case !change.Growth.None() && s.saved != nil:
		return nil, answer.Refuse(answer.WithHint(fmt.Errorf("%s; the new plan does more than the archived one: %s",
			change.What(), change.More()), hintArchive))
	case !change.Growth.None():
		if err := s.agree(ctx, next, change); err != nil {
			return nil, err
		}
	}
	s.agreed = append(s.agreed, next)
	next.count()
	return next, nil
}

// planRest plans the deletion of those of the objects that the stages have not deleted.
func (s *stages) planRest(ctx context.Context) (*Planned, error) {
	client, catalog, err := discoverWithout(ctx, s.client, s.deleted)
	if err != nil {
		return nil, fmt.Errorf("planning again: %w", err)
	}
	pl := *s.planner
	pl.client, pl.catalog = client, catalog
	s.planner = &pl
	var roots []graph.Ref
	for _, ref := range s.whole.Graph.Refs(s.whole.Roots) {
		if !s.gone[ref.UID] {
			roots = append(roots, ref)
		}
	}
	return s.planAgain(ctx, roots)
}

// notGone is the finding that a stage has left alone what it was to delete, so that the later
// stages must not begin.
func (s *stages) notGone(next *Planned) error {
	var left []graph.Ref
	for _, id := range next.Stages()[0].Deleted {
		if ref := next.Graph.Ref(id); s.gone[ref.UID] {
			left = append(left, ref)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return answer.Refuse(fmt.Errorf("not begun: an earlier stage was to delete %s and has not", firstFew(left)))
}

// notBegun says why the next stage must not begin, whoever agrees to it.
func (s *stages) notBegun(next *Planned) error {
	switch {
	case len(next.OrderCycle()) > 0:
		return answer.Refuse(errors.New("not begun: there is no order in which the rest can be deleted: " +
			next.OrderSentence()))
	case next.incomplete():
		return answer.Refuse(
			answer.WithHint(errors.New("not begun: types that may contain dependents could not be listed for the new plan"),
				"--allow-incomplete deletes anyway"))
	case len(next.Forbidden) > 0:
		return answer.Refuse(errors.New("not begun: " + strings.Join(next.Denials(), "; ")))
	}
	return cmp.Or(next.tooMany("not begun"), s.notGone(next))
}

// beyondStages is what a plan does beyond those that were agreed to. What is created meanwhile in a
// namespace that is deleted, or for an owner that is, goes with it, unless it has finalizers or is
// a custom resource, which are to go first.
func (p *Planned) beyondStages(agreed []*plan.Plan) plan.Growth {
	growth := p.Beyond(agreed...)
	sent := map[graph.ID]bool{}
	for _, stage := range p.Stages() {
		maps.Copy(sent, graph.SetOf(stage.Objects))
	}
	growth.Deleted = slices.DeleteFunc(growth.Deleted, func(id graph.ID) bool { return !sent[id] })
	return growth
}
