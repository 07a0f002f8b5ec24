package rescue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Options say how to perform a plan.
type Options struct {
	// Timeout is how long it may take until the object is gone that was freed; zero for no limit.
	Timeout time.Duration
	// OnSaved is called with every archive that was written, and OnEvent with every write that was
	// tried, in the order of the plan within a step. They may be nil; calls come one at a time.
	OnSaved func(*archive.Saved)
	OnEvent func(plan.Event)
}

// Outcome is what came of a plan, with the Result as it is printed: skipped are dependents that did
// not get their references back, and owners of the object that it has no reference to any more, on
// purpose; what remains is what still holds the object.
type Outcome struct {
	*v1alpha1.Result
	Planned *Planned
	// Err is why the rescue did not come to its end; nil if it did. A refusal says what somebody
	// has to do first.
	Err error

	// without names those of Skipped that are dependents, each with why.
	without []string
}

// Perform does what is planned, and goes on from where the cluster shows that the rescue stands.
// Nothing is done if the plan refuses anything. Each write carries the uid and the resourceVersion
// of what was read right before it.
func Perform(ctx context.Context, q *selection.Query, known *finalizer.Registry, p *Planned, opts Options) *Outcome {
	r := &rescuer{q: q, known: known, p: p, opts: opts, out: &Outcome{Result: v1alpha1.NewResult(nil), Planned: p}}
	r.out.Err = r.run(ctx)
	r.out.Gaps, r.out.Complete = append(r.out.Gaps, p.Gaps...), len(p.Gaps) == 0
	if r.out.Err != nil && p.record != nil && answer.Hint(r.out.Err) == "" {
		r.out.Err = answer.WithHint(r.out.Err,
			"the same command goes on from the archive: add "+phrase.Command("--archive", p.Archive))
	}
	return r.out
}

type rescuer struct {
	q     *selection.Query
	known *finalizer.Registry
	p     *Planned
	opts  Options
	out   *Outcome
	// freed says that this run has written to the object what frees it, as an archive has it.
	freed bool
}

func (r *rescuer) run(ctx context.Context) error {
	if against := r.p.Against(); len(against) > 0 {
		return answer.Refuse(fmt.Errorf("nothing was changed: %s", against[0].Because))
	}
	if r.p.Stage != Created {
		if err := r.release(ctx); err != nil {
			return err
		}
		if err := r.create(ctx); err != nil {
			return err
		}
	}
	// Where it cannot be written that the object was created, another run compares the content.
	_ = r.p.record.Created.Add(r.p.Ref.UID, r.p.Now.UID)
	if err := r.rebind(ctx); err != nil {
		return err
	}
	if err := r.adopt(ctx); err != nil {
		return err
	}
	if err := r.verify(ctx); err != nil {
		return err
	}
	return r.out.unadopted()
}

// unadopted is the refusal that says which dependents did not get their references back, which was
// promised; nil if all did.
func (o *Outcome) unadopted() error {
	names := o.without
	if len(names) == 0 {
		return nil
	}
	return answer.Refuse(fmt.Errorf("%s was created again, and %s did not get %s references back: %s",
		o.Planned.Ref.Quoted(), phrase.Count(len(names), "dependent"),
		phrase.Plural(len(names), "its", "their"), phrase.FirstFew(names, phrase.MaxNamed)))
}

func (r *rescuer) tell(e plan.Event) {
	r.out.Add(printed(e.Action), e.Err)
	if r.opts.OnEvent != nil {
		r.opts.OnEvent(e)
	}
}

func (r *rescuer) done(w plan.Write) { r.tell(plan.Event{Action: w}) }

// failed notes a write that failed, and returns why the rescue ends with it.
func (r *rescuer) failed(ctx context.Context, a plan.Write, err error, what string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.tell(plan.Event{Action: a, Err: err})
	return fmt.Errorf("%s: %w", what, err)
}

// result is what came of a write to a dependent: whether it was written to, or why not.
type result struct {
	wrote   bool
	skipped string
	err     error
}

// each does something to all dependents side by side, and says in their order what came of it. The
// error joins those of all.
func (r *rescuer) each(ctx context.Context, do func(context.Context, *Dependent) result,
	action func(*Dependent) plan.Write) error {
	results := make([]result, len(r.p.Dependents))
	cluster.Each(r.q.Client, r.p.Dependents, func(i int, d *Dependent) {
		results[i] = do(ctx, d)
	})
	var errs []error
	for i, d := range r.p.Dependents {
		switch got := results[i]; {
		case got.err != nil && ctx.Err() != nil: // which is told once
		case got.err != nil:
			r.tell(plan.Event{Action: action(d), Err: got.err})
			errs = append(errs, fmt.Errorf("%s: %w", d.Ref.Quoted(), got.err))
		case got.wrote:
			r.done(action(d))
		case got.skipped != "":
			r.out.Skip(d.Ref, got.skipped)
			r.out.without = append(r.out.without, fmt.Sprintf("%s (%s)", d.Ref.Quoted(), got.skipped))
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(errs...)
}
