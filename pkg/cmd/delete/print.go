package delete

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// performing says how the plan is performed and what is printed meanwhile.
func (o *Options) performing(ctx context.Context, p *deletion.Planned, view *render.DeletionView) deletion.Options {
	opts := deletion.Options{
		Agree: func(ctx context.Context, p *deletion.Planned, change *deletion.Change) error {
			return o.auditPlan(ctx, p, o.how(), o.agree(ctx, p, change))
		},
		Asks: o.asks(), Wait: o.Wait, Timeout: o.Timeout, StageTimeout: o.StageTimeout, OnStage: view.Stage,
		Words:   render.DeletionWords(p),
		OnEvent: view.Event, OnTick: view.Tick, OnReplan: func(p *deletion.Planned, change *deletion.Change, refused error) {
			_ = o.auditPlan(ctx, p, "earlier plan", refused) // an entry that cannot be written ends the context
			o.replanned(p, change, refused)
		},
	}
	if o.Archive != "" {
		opts.Archive = &deletion.Archive{File: o.Archive, Head: printed, OnSaved: o.Archived}
	}
	opts.OnStart = func() {
		o.started(p)
		view.Begin()
	}
	if !o.Wait {
		opts.OnCollect = view.Collected
	}
	if o.audit != nil {
		opts.OnWrite = o.auditAction
	}
	return opts
}

// started tells what there is to know right before the first write.
func (o *Options) started(p *deletion.Planned) {
	if g := o.Request.GracePeriodSeconds; g != nil && *g == 0 {
		render.Warn(o.ErrOut, "Immediate deletion does not wait for confirmation that the running resource has been terminated. "+
			"The resource may continue to run on the cluster indefinitely.")
	}
	if o.GC == "client" {
		render.WarnNamespaces(o.ErrOut, p)
	}
}

// replanned tells that something was planned again.
func (o *Options) replanned(p *deletion.Planned, change *deletion.Change, refused error) {
	switch {
	case refused == nil:
		render.Warn(o.ErrOut, "%s; the new plan deletes nothing more", render.Escape(change.What()))
	case len(p.Hiding) > 0 && !o.Request.AllowIncomplete:
		render.WarnGaps(o.ErrOut, p.Gaps)
	}
}

// refused shows a plan that is not performed to a person.
func (o *Options) refused(p *deletion.Planned, refused error) error {
	if err := o.ShowRefused(func() error { return o.show(p) }); err != nil {
		return err
	}
	return refused
}

// printed is the plan as -o json prints it.
func printed(p *deletion.Planned) *v1alpha1.Plan {
	return p.Signed(render.DeletionPlan(p).Printed(p.Gaps))
}

func (o *Options) show(p *deletion.Planned) error {
	return o.Show(func(s render.Style) error {
		if err := render.PlanTable(o.Out, render.DeletionPlan(p), s); err != nil {
			return err
		}
		_, err := fmt.Fprintf(o.Out, "digest: %s\n", p.Digest())
		return err
	}, func() error {
		for _, denial := range p.Denials() {
			render.Warn(o.ErrOut, "%s", render.Escape(denial))
		}
		return render.Names(o.Out, p.Graph, p.Deleted)
	}, func() env.Document { return printed(p) })
}

// title is the command without what says how it prints.
func (o *Options) title(p *deletion.Planned) string {
	const most = 3
	names := render.KindNamesOf(p.Graph, p.Roots[:min(most, len(p.Roots))])
	title := phrase.Command(append([]string{"kubectl", "gc", "delete"}, names...)...)
	title += phrase.More(" and %d more", len(p.Roots)-most)
	if o.Request.Policy != plan.Background {
		title += " --cascade=" + policyFlag(o.Request.Policy)
	}
	return title
}

func (o *Options) print(r *deletion.Result) error {
	render.WarnResult(o.ErrOut, r)
	if r.Archived {
		o.SayUndo()
	}
	if o.Output.IsOwn() {
		return nil
	}
	return o.Output.Write(o.Out, r.Printed(render.WaitsOf(r.Planned).For))
}
