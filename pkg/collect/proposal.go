package collect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Proposal is what a pass would do, and the passes after it, to the end of the cascade.
type Proposal struct {
	*Snapshot
	Plan *plan.Plan
	// Growth is what of it goes beyond what was agreed to.
	Growth plan.Growth
	// Pass is the number of the pass, from 1; 0 if no pass has begun.
	Pass int
	// allow says what may be written to; nil allows all.
	allow func(graph.ID) bool
}

// NotDeleted are the objects that may be written to and that are left when the plan is done, and
// why.
func (p *Proposal) NotDeleted() []plan.ObjectReason { return p.Plan.End().NotDeleted(p.allow) }

// ErrOnlyAgreed is what Options.Agree returns to have a pass do what was agreed to before, and
// nothing else. What is new is left, and Agree is not asked about it again.
var ErrOnlyAgreed = errors.New("only what was agreed to is done")

// AgreeToAll is an Options.Agree for whoever is the collector: what comes up is collected. The
// other bounds hold all the same.
func AgreeToAll(context.Context, *Proposal) error { return nil }

// GrownError ends a run that would do more than was agreed to. Nothing of the pass was written.
type GrownError struct{ Proposal *Proposal }

// Error names what is new.
func (e *GrownError) Error() string {
	g := e.Proposal.Growth
	var parts []string
	for _, part := range []struct {
		verb string
		ids  []graph.ID
	}{{"deletes", g.Deleted}, {"changes", g.Written}} {
		if len(part.ids) > 0 {
			parts = append(parts, part.verb+" "+e.Proposal.names(part.ids))
		}
	}
	return "the plan has grown since it was agreed to: it also " + strings.Join(parts, " and ")
}

func (p *Proposal) names(ids []graph.ID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		r := p.Graph.Ref(id)
		name := r.Name
		if r.Namespace != "" {
			name = r.Namespace + "/" + name
		}
		names[i] = fmt.Sprintf("%s %q", r.Resource, name)
	}
	return phrase.FirstFew(names, phrase.MaxNamed)
}

// OwnerLossError refuses a pass because the owners of some kinds are gone all at once. Nothing of
// the pass was written.
type OwnerLossError struct{ Losses []plan.OwnerLoss }

// Error says of each kind how many of its owners are gone. The kinds are as the references have
// them, and not escaped.
func (e *OwnerLossError) Error() string {
	kinds := phrase.Words(e.Losses, lossWords)
	return strings.Join(kinds, "; ")
}

func lossWords(m plan.OwnerLoss) string {
	kind := schema.GroupKind{Group: m.Group, Kind: m.Kind}.String()
	words := fmt.Sprintf("all %d owners of kind %s are absent at once", m.Absent+m.Replaced, kind)
	if m.Alive > 0 {
		words = fmt.Sprintf("%d of %d owners of kind %s are absent at once", m.Absent+m.Replaced,
			m.Absent+m.Replaced+m.Alive, kind)
	}
	if m.Replaced > 0 {
		words += fmt.Sprintf(", and %d of their names now belong to other objects", m.Replaced)
	}
	return words
}

// MaxDeletesError ends a run before a pass that would delete more than Options.MaxDeletes allows.
// Nothing of the pass was written.
type MaxDeletesError struct{ Done, Planned, Max int }

// Error has the numbers.
func (e *MaxDeletesError) Error() string {
	if e.Done > 0 {
		return fmt.Sprintf("the plan has %d more, which would be %d in all, and --max-deletes allows %d", e.Planned,
			e.Done+e.Planned, e.Max)
	}
	return fmt.Sprintf("the plan has %d deletes, and --max-deletes allows %d", e.Planned, e.Max)
}

// Is makes it ErrMaxDeletes.
func (e *MaxDeletesError) Is(target error) bool { return target == ErrMaxDeletes }

// Agreed records that the caller's user has agreed to what a plan does, a deletion's or a run's:
// the loop writes nothing else without asking Options.Agree. If it is never called, what the first
// pass of a Run plans counts as agreed to. It may be called several times, before a pass or by
// Agree.
func (l *Loop) Agreed(p *plan.Plan) {
	l.explicit = true
	l.agreed(p)
}

func (l *Loop) agreed(p *plan.Plan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bound = true
	l.consent.Agree(p)
}

// Propose surveys the cluster and plans the run, and writes nothing.
func (l *Loop) Propose(ctx context.Context) (*Proposal, error) {
	snapshot, err := l.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return l.propose(snapshot, func(id graph.ID) bool { return l.allows(snapshot.Graph, id) }), nil
}

func (l *Loop) propose(s *Snapshot, may func(graph.ID) bool) *Proposal {
	l.mu.Lock()
	orphaned := slices.Sorted(maps.Keys(l.orphaned))
	l.mu.Unlock()
	return &Proposal{
		Snapshot: s, Pass: l.passes, allow: may,
		Plan: plan.NewRun(s.Graph, plan.Options{Overrides: l.opts.Overrides, Proven: s.Proven, Allow: may, Gaps: s.Gaps,
			Orphaned: orphaned, Early: l.isEarly(s.Graph)}),
	}
}

// Check returns the error with which a pass would refuse a plan, a *OwnerLossError or a
// *MaxDeletesError; nil if it would not.
func (l *Loop) Check(p *Proposal) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.opts.AllowOwnerLoss {
		if losses := p.Plan.OwnerLosses(l.expected, l.lost.owners()...); len(losses) > 0 {
			return &OwnerLossError{losses}
		}
	}
	if planned := p.Plan.Deletes(); l.opts.MaxDeletes > 0 && l.deletes+planned > l.opts.MaxDeletes {
		return &MaxDeletesError{Done: l.deletes, Planned: planned, Max: l.opts.MaxDeletes}
	}
	return nil
}

// expected reports whether it is known that an owner is gone, and why. The lock is held.
func (l *Loop) expected(uid string) bool {
	d, seen := l.witnessed[uid]
	return seen && !d.missing || l.consent.Deletes(uid)
}

// bind checks what a pass would do, before its first write, and has it agreed to.
func (p *pass) bind(ctx context.Context) error {
	l := p.loop
	if l.opts.Only != nil {
		return nil
	}
	if err := p.readOwners(ctx); err != nil {
		return err
	}
	proposal := l.propose(p.snapshot(maps.Clone(p.projection.Proven())), p.allows)
	// That an owner is gone stays true. Anything else is read again when it is acted on: somebody
	// may take his time to agree.
	maps.DeleteFunc(p.projection.Proven(),
		func(_ int, s plan.OwnerState) bool { return s != plan.Absent && s != plan.Replaced })
	if err := l.Check(proposal); err != nil {
		return err
	}
	defer l.remember(proposal)
	if !l.bound {
		l.agreed(proposal.Plan)
		return nil
	}
	if proposal.Growth = l.growth(proposal.Plan); proposal.Growth.None() {
		return nil
	}
	agree := l.opts.Agree
	if agree == nil {
		agree = func(_ context.Context, p *Proposal) error { return &GrownError{p} }
	}
	err := agree(ctx, proposal)
	switch {
	case err == nil:
		l.agreed(proposal.Plan)
	case errors.Is(err, ErrOnlyAgreed):
		l.decline(proposal)
		return nil
	}
	return err
}

// growth is what a plan does beyond what was agreed to, without what was declined before.
func (l *Loop) growth(p *plan.Plan) plan.Growth {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.consent.Beyond(p)
	declined := func(id graph.ID) bool { return l.declined[p.Graph.Ref(id).UID] }
	g.Deleted, g.Written = slices.DeleteFunc(g.Deleted, declined), slices.DeleteFunc(g.Written, declined)
	return g
}

func (l *Loop) decline(p *Proposal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(l.declined, p.Graph.UIDs(slices.Concat(p.Growth.Deleted, p.Growth.Written)))
}

// agreedTo reports whether a write to an object, or to its references to owners, was agreed to.
// What came up after the pass was planned was not; the next pass plans it.
func (p *pass) agreedTo(verb plan.Verb, id graph.ID, owners ...string) bool {
	l, uid := p.loop, p.graph.Ref(id).UID
	if l.opts.Only != nil {
		return true
	}
	l.mu.Lock()
	allowed, declined := l.consent.Allows(verb, uid, owners...), l.declined[uid]
	l.mu.Unlock()
	if !allowed && !declined {
		p.again()
	}
	return allowed
}
