package deletion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
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
		opts.OnStart()
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
	gc := &clientGC{planner: pl, saved: saved, plans: func() []*Planned { return again.agreed }, opts: opts}
	how := act.Options{
		GracePeriodSeconds: pl.request.GracePeriodSeconds, PropagateGracePeriod: pl.request.PropagateGracePeriod,
		Archived:     covered(pl.client, saved),
		ResumePoints: p.Snapshot.ResumePoints, Wait: opts.Wait, OnEvent: opts.OnEvent, Tick: opts.OnTick,
		Replan: again.replan, Meant: pl.meant(),
	}
	if opts.OnWrite != nil {
		how.OnWrite = func(g *graph.Graph, a plan.Action, err error) { opts.OnWrite(a.Printed(g), err) }
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
		settle(limited, pl.client, again.agreed)
		r.Deadlocked, r.Unchecked = deadlocked(ctx, pl.client, again.agreed)
	}
	return r, errors.Join(slices.Concat(failures(done), collect.Errors(gc.events), []error{
		gc.leftAloneError(r.LeftAlone), collect.UnreadError(r.Unread), deadlockedError(r.Deadlocked),
		uncheckedError(r.Unchecked), keptError(done.Kept), ended(ctx, opts, done, err),
	})...)
}

// Archive is a file in which all that a plan deletes or changes is saved before the first delete.
// It must not exist.
type Archive struct {
	File string
	// Head returns the plan as it is printed, which the file begins with.
	Head func(*Planned) *v1alpha1.Plan
	// OnSaved, if not nil, is called with what was saved.
	OnSaved func(*archive.Saved)
}

// save writes the archive of a plan that is about to be carried out; nil without one. With an error
// nothing is deleted and there is no file. It is a refusal if an object cannot be read, and none if
// the file cannot be written.
func (p *Planned) save(ctx context.Context, a *Archive) (*archive.Saved, error) {
	if a == nil {
		return nil, nil
	}
	saved, err := archive.Save(ctx, p.planner.client, a.File, archive.OfPlan(p.Plan), a.Head(p))
	if err != nil {
		return nil, archive.NotSaved(ctx, err, "nothing was deleted", archive.OmitArchive)
	}
	saved.Gaps = len(p.Hiding) > 0
	if a.OnSaved != nil {
		a.OnSaved(saved)
	}
	return saved, nil
}

// hintArchive is what to do about an object that cannot be deleted because the archive does not
// have it as it is.
const hintArchive = "run the command again with another archive file"

// covered is act's Archived; nil without an archive.
func covered(client *cluster.Client, saved *archive.Saved) func(context.Context, graph.Type, graph.Ref, string) error {
	if saved == nil {
		return nil
	}
	return func(ctx context.Context, t graph.Type, ref graph.Ref, resourceVersion string) error {
		err := saved.Covers(ctx, client, t, ref, resourceVersion)
		if errors.Is(err, archive.ErrChanged) || errors.Is(err, archive.ErrMissing) {
			return answer.Refuse(answer.WithHint(err, hintArchive))
		}
		return err
	}
}

// leftAlone are the dependents of what was deleted that are not in the plan and still there, as far
// as that can be found out.
func (c *clientGC) leftAlone(ctx context.Context) []graph.Ref {
	c.mu.Lock()
	defer c.mu.Unlock()
	var left []graph.Ref
	for uid, l := range c.left {
		now, err := c.planner.client.GetMeta(ctx, l.t, l.Namespace, l.Name)
		if cluster.IsAbsent(err, l.t, l.Name) || err == nil &&
			(now.UID != uid || !slices.ContainsFunc(now.Owners, func(r graph.OwnerReference) bool { return c.cascade[r.UID] })) {
			continue
		}
		left = append(left, l.Ref)
	}
	slices.SortFunc(left, func(a, b graph.Ref) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return left
}

// leftAloneError is the finding that there are some.
func (c *clientGC) leftAloneError(left []graph.Ref) error {
	if len(left) == 0 {
		return nil
	}
	where := "plan"
	if c.saved != nil {
		where = "plan and the archive"
	}
	return answer.Refuse(answer.WithHint(fmt.Errorf("dependents that are not in the %s were not deleted: %s", where,
		firstFew(left)),
		"their owners are deleted: delete them by name, or collect them with kubectl gc run"))
}
