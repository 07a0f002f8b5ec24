package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Fixed is what came of a Fix.
type Fixed struct {
	*Fix
	// Done says that the server has removed the references.
	Done bool
	// Skipped is why the object was left alone, because it is not any more what it was when it was
	// planned.
	Skipped error
	// Err is why it failed: a cluster.PutBackError, or the server's error.
	Err error
}

// Event is a write that was tried, with the Fix that it belongs to.
type Event struct {
	plan.Event
	Fix *Fix
}

// over reports whether there is nothing left to fix, whoever has seen to that.
func (f *Fixed) over() bool {
	return f.Done && f.Err == nil || errors.Is(f.Skipped, errNoReference) || change.IsOver(f.Skipped) ||
		errors.Is(f.Skipped, errDeleting)
}

// DryRun sends the writes with dryRun=All; nothing is stored. It returns what would come of each.
func (p *Fixes) DryRun(ctx context.Context) []*Fixed {
	return p.perform(ctx, cluster.PatchOptions{DryRun: true}, nil)
}

// Perform removes the references, side by side: each object is read live, with all of its owners,
// right before the write, which carries its uid and resourceVersion. What has changed so that it is
// not safe any more is skipped. Afterwards it looks whether somebody sets one again. OnEvent, if not
// nil, is called with each write that was tried, one call at a time.
func (p *Fixes) Perform(ctx context.Context, onEvent func(Event)) []*Fixed {
	return p.perform(ctx, cluster.PatchOptions{}, onEvent)
}

func (p *Fixes) perform(ctx context.Context, opts cluster.PatchOptions, onEvent func(Event)) []*Fixed {
	all := make([]*Fixed, len(p.Fixes))
	var mu sync.Mutex
	cluster.Each(p.client, p.Fixes, func(i int, fix *Fix) {
		fixed := &Fixed{Fix: fix}
		all[i] = fixed
		p.remove(ctx, fixed, opts)
		if fixed.Skipped == nil && onEvent != nil {
			mu.Lock()
			defer mu.Unlock()
			onEvent(Event{plan.Event{Action: fix.write(), Err: fixed.Err}, fix})
		}
	})
	if opts.DryRun {
		return all
	}
	cluster.Each(p.client, all, func(_ int, fixed *Fixed) {
		if fixed.Done && fixed.Err == nil {
			fixed.Err = p.object(fixed.Fix).PutBack(ctx, fixed.Removed)
		}
	})
	return all
}

// remove removes the references of one object. What is planned bounds what is removed.
func (p *Fixes) remove(ctx context.Context, fixed *Fixed, opts cluster.PatchOptions) {
	if ctx.Err() != nil {
		fixed.Err = context.Cause(ctx)
		return
	}
	agreed := slices.Clone(fixed.Removed)
	_, err := p.object(fixed.Fix).RemoveReferences(ctx, opts, func(now *graph.Object) ([]graph.OwnerReference, error) {
		if fixed.Skipped = p.decide(ctx, fixed.Fix, now); fixed.Skipped != nil {
			return nil, fixed.Skipped
		}
		fixed.Removed = slices.DeleteFunc(fixed.Removed,
			func(r graph.OwnerReference) bool { return !slices.Contains(agreed, r) })
		if len(fixed.Removed) == 0 {
			fixed.Skipped = errOwnerExists
		}
		return fixed.Removed, fixed.Skipped
	})
	switch {
	case ctx.Err() != nil && err != nil:
		fixed.Skipped, fixed.Err = nil, context.Cause(ctx)
	case change.IsOver(err):
		fixed.Skipped = err
	case fixed.Skipped != nil:
	default:
		fixed.Done, fixed.Err = err == nil, err
	}
}

// Save writes an archive of the objects that the plan changes. With an error there is no file: a
// refusal if an object cannot be read, and otherwise what is wrong with the file.
func (p *Fixes) Save(ctx context.Context, file string) (*archive.Saved, error) {
	saved, err := archive.Save(ctx, p.client, file, p.changed(), p.Printed())
	return saved, archive.NotSaved(ctx, err, "nothing was removed", archive.OmitArchive)
}

// changed are the objects of the plan.
func (p *Fixes) changed() archive.Contents {
	return archive.OfObjects(func(add func(graph.Type, graph.Ref, ...graph.OwnerReference)) {
		for _, fix := range p.Fixes {
			add(fix.Type, fix.Object, fix.was.Owners...)
		}
	})
}

// Remaining is the report without the findings that are fixed, and without those of objects that
// are gone.
func (p *Fixes) Remaining(all []*Fixed) *v1alpha1.CheckReport {
	out := *p.Report
	over := map[string]*Fixed{}
	for _, f := range all {
		if f.over() {
			over[f.Object.UID] = f
		}
	}
	for _, l := range p.Left {
		if f := (&Fixed{Fix: &Fix{Object: l.Object}, Skipped: l.Because}); f.over() {
			over[l.Object.UID] = f
		}
	}
	out.Findings = slices.DeleteFunc(slices.Clone(out.Findings), func(f v1alpha1.CheckFinding) bool {
		fixed := over[f.Object.UID]
		switch {
		case fixed == nil || f.OwnerReference == nil:
			return false
		case fixed.Done:
			return slices.ContainsFunc(fixed.Removed,
				func(r graph.OwnerReference) bool { return r.UID == string(f.OwnerReference.UID) })
		}
		return isFixable(f)
	})
	return &out
}

// Errors are what the writes met that failed, each with its object; a reference that was set again
// is a refusal.
func Errors(all []*Fixed) error {
	var errs []error
	for _, f := range all {
		if f.Err == nil {
			continue
		}
		err := fmt.Errorf("removing %s of %s: %w", phrase.Count(len(f.Removed), "owner reference"), f.Object.Quoted(), f.Err)
		if back := new(cluster.PutBackError); errors.As(f.Err, &back) {
			err = answer.Refuse(err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Done are the fixes that were made.
func Done(all []*Fixed) []*Fix {
	var done []*Fix
	for _, f := range all {
		if f.Done {
			done = append(done, f.Fix)
		}
	}
	return done
}

// Printed is what kubectl gc check --fix would do as the Plan that -o json prints with --dry-run.
func (p *Fixes) Printed() *v1alpha1.Plan {
	out := v1alpha1.NewPlan(p.Report.Gaps)
	out.Complete = p.Report.Complete
	for _, fix := range p.Fixes {
		out.Roots = append(out.Roots, fix.Object)
		out.Actions = append(out.Actions, fix.printed())
	}
	return out
}

// Result is what came of it as the Result that -o json prints.
func (p *Fixes) Result(all []*Fixed) *v1alpha1.Result {
	out := v1alpha1.NewResult(p.Report.Gaps)
	out.Complete = p.Report.Complete
	for _, l := range p.Left {
		out.Skip(l.Object, l.Because.Error())
	}
	for _, f := range all {
		if f.Done {
			out.Add(f.printed(), nil)
		}
		switch {
		case f.Skipped != nil:
			out.Skip(f.Object, f.Skipped.Error())
		case f.Err != nil && f.Done:
			out.Remaining = append(out.Remaining, v1alpha1.SkippedObject{Object: f.Object, Because: f.Err.Error()})
		case f.Err != nil:
			out.Add(f.printed(), f.Err)
		}
	}
	out.Findings = p.Remaining(all).Findings
	return out
}

func (f *Fix) printed() v1alpha1.Action {
	a := f.write().Printed(plan.ByClient)
	a.Because = strings.Join(f.Because, "; ") + "; " + f.keptBy()
	return a
}

func (f *Fix) write() plan.Write {
	return plan.Write{Verb: plan.VerbOrphan, Object: f.Object, Owners: graph.UIDs(f.Removed), Because: plan.OwnedByAnother}
}

// keptBy says which owner keeps the object, in a clause.
func (f *Fix) keptBy() string {
	return graph.Located(f.Keeper.Kind, "", f.Keeper.Name) + " owns it too"
}
