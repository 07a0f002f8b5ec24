package deletion

import (
	"context"
	"errors"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
)

// Perform carries out a plan: it refuses what must not be done, has it agreed to, writes the
// archive, sends the deletes and waits for the cascade. The Result is nil if nothing was written.
// The error joins what was refused, what single objects met and what ended the wait; the answers
// among it are those of pkg/answer. Nothing is written after ctx has ended.
func Perform(ctx context.Context, p *Planned, opts Options) (*Result, error) {
	if p.Empty() {
		return nil, nil
	}
	if err := p.Refused(opts.Asks); err != nil {
		return nil, err
	}
	if err := p.check(ctx); err != nil {
		return nil, err
	}
	if opts.Agree != nil {
		if err := opts.Agree(ctx, p, nil); err != nil {
			return nil, err
		}
	}
	p.count()
	saved, err := p.save(ctx, opts.Archive)
	if err != nil {
		return nil, err
	}
	if opts.OnStart != nil {
		opts.OnStart(saved)
	}
	if p.planner.request.Ordered {
		return p.performStages(ctx, opts, saved)
	}
	return p.perform(ctx, opts, saved)
}

// limit ends a context at the timeout.
func (o Options) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	switch {
	case !o.until.IsZero():
		return context.WithDeadline(ctx, o.until)
	case o.Timeout > 0:
		return context.WithTimeout(ctx, o.Timeout)
	}
	return context.WithCancel(ctx)
}

// perform sends the deletes of a plan that was agreed to.
func (p *Planned) perform(ctx context.Context, opts Options, saved *archive.Saved) (*Result, error) {
	pl := p.planner
	again := &replanner{planner: pl, opts: opts, saved: saved, agreed: []*Planned{p}}
	gc := &clientGC{planner: pl, saved: saved, plans: func() []*Planned { return again.agreed }, onEvent: opts.OnCollect}
	how := act.Options{
		GracePeriodSeconds: pl.request.GracePeriodSeconds, PropagateGracePeriod: pl.request.PropagateGracePeriod,
		Archived:     covered(pl.client, saved),
		ResumePoints: p.Snapshot.ResumePoints, Wait: opts.Wait, OnEvent: opts.OnEvent, Tick: opts.OnTick,
		OnWrite: opts.OnWrite,
		Replan:  again.replan, Meant: pl.meant(),
	}
	if pl.request.GC == ClientGC {
		how.Collect, how.PropagateGracePeriod = gc.collect, false
	}
	limited, cancel := opts.limit(ctx)
	defer cancel()
	done, err := act.Run(limited, pl.client, p.Plan, how)
	r := &Result{
		Result: done, Planned: again.last(), Archived: saved != nil, Collected: gc.events, Unread: gc.unread,
		LeftAlone: gc.leftAlone(ctx),
		TimedOut:  errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil || errors.Is(err, act.ErrNotCollected),
	}
	if opts.Wait && ctx.Err() == nil {
		r.Deadlocked, r.Unchecked = deadlocked(ctx, pl.client, again.agreed)
	}
	return r, errors.Join(slices.Concat(failures(done), collect.Errors(gc.events), []error{
		gc.leftAloneError(r.LeftAlone), collect.UnreadError(r.Unread), deadlockedError(r.Deadlocked),
		uncheckedError(r.Unchecked), keptError(done.Kept), ended(ctx, opts, done, err),
	})...)
}
