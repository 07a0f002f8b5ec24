package env

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// explainWithin bounds what a command that has waited in vain takes to say why.
const explainWithin = time.Minute

// ExplainLeft says why objects that were waited for are still there, as kubectl gc why does, and
// returns that. Nothing of it is an error: the command has one.
func (e *Env) ExplainLeft(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog,
	left []graph.Ref) []v1alpha1.Stuck {
	if len(left) == 0 {
		return nil
	}
	known, err := e.Known()
	if err != nil {
		return nil // packs that were named were read before the deletion
	}
	ctx, cancel := context.WithTimeout(ctx, explainWithin)
	defer cancel()
	d, err := diagnose.ExamineObjects(ctx, client, catalog, left, diagnose.Options{Known: known})
	if err != nil {
		render.Warn(e.ErrOut, "could not find out why they still exist: %s", render.Escape(err.Error()))
		return nil
	}
	if len(d.Stuck) == 0 {
		return nil
	}
	e.Pasted(d.Stuck)
	fmt.Fprintln(e.ErrOut)
	when, _ := render.ParseColor(e.Color)
	// the command's own error follows
	_ = render.Diagnosis(e.ErrOut, d, e.Now(), render.NewStyle(when, e.ErrOut, false))
	return d.Stuck
}

// Page adds to a page what kubectl gc explain says of the finalizers on it, and what kubectl gc why
// says of the objects that are being deleted, and prints it. If the second cannot be found out, the
// page says so: that is no error.
func (e *Env) Page(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, p *render.Page) error {
	known, err := e.Known()
	if err != nil {
		return err
	}
	p.Explain(known.Explain)
	if err := e.diagnosePage(ctx, client, catalog, p, diagnose.Options{Known: known}); err != nil {
		return err
	}
	return e.Print(ctx, func() error { return p.Write(e.Out) })
}

// diagnosePage adds why the objects still exist that are being deleted. Its error is that ctx has
// ended.
func (e *Env) diagnosePage(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, p *render.Page,
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

// SayCalled says, from -v=1 on, in one line which webhooks the dry runs of a command can have
// called.
func (e *Env) SayCalled(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog) {
	if !klog.V(1).Enabled() {
		return
	}
	line := "No dry runs were sent"
	if len(client.DryRuns()) > 0 {
		called, unread := diagnose.Called(ctx, client, catalog)
		line = "Dry runs were sent, and no webhook is registered for such writes"
		if len(called) > 0 {
			line = "Dry runs can have called " + strings.Join(called, ", ")
		}
		if len(unread) > 0 {
			line = strings.Join(append([]string{"Dry runs can have called webhooks that are not known"},
				append(called, unread...)...), "; ")
		}
	}
	render.Message(e.ErrOut, "", render.Escape(line))
}
