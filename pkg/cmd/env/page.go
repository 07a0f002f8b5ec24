package env

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/page"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Page adds to a page what kubectl gc explain says of the finalizers on it, and what kubectl gc why
// says of the objects that are being deleted, and prints it. If the second cannot be found out, the
// page says so: that is no error.
func (e *Env) Page(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, p *page.Page) error {
	known, err := e.Known()
	if err != nil {
		return err
	}
	p.Explain(func(name string, object v1alpha1.ObjectRef) v1alpha1.ExplainedFinalizer {
		return explain.Of(known, name, object)
	})
	if err := e.diagnosePage(ctx, client, catalog, p, diagnose.Options{Known: known}); err != nil {
		return err
	}
	return e.Print(ctx, func() error { return page.Write(e.Out, p) })
}

// diagnosePage adds why the objects still exist that are being deleted. Its error is that ctx has
// ended.
func (e *Env) diagnosePage(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, p *page.Page,
	opts diagnose.Options) error {
	deleting := p.Deleting()
	if len(deleting) == 0 {
		return nil
	}
	progress := render.NewProgress(e.ErrOut)
	opts.Progress = progress.Examined
	d, err := diagnose.ExamineObjects(ctx, client, catalog, deleting, opts)
	progress.Done()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		p.Undiagnosed = err.Error()
		render.Warn(e.ErrOut, "could not find out why objects still exist that are being deleted: %s",
			render.Escape(err.Error()))
		return nil
	}
	p.Stuck, p.Unexamined = append(p.Stuck, d.Stuck...), append(p.Unexamined, d.Gaps...)
	return nil
}
