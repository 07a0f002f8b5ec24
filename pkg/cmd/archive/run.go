package archive

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/tree"
)

func run(ctx context.Context, o *Options) error {
	if o.Verify != "" {
		return o.verify(ctx)
	}
	q, err := o.Query(ctx, &o.Objects, o.Args)
	if err != nil {
		return err
	}
	t, err := tree.NewArchival(ctx, q, o.FollowLinks, o.Links)
	if err != nil {
		return err
	}
	render.WarnGaps(o.ErrOut, t.Gaps)
	if err := t.Refused(); err != nil && !o.AllowIncomplete {
		return err
	}
	saved, err := t.Save(ctx, q.Client, o.To)
	if err != nil {
		return err
	}
	render.NotArchived(o.ErrOut, saved, !t.Complete())
	return o.Print(ctx, func() error {
		if o.Output.Format() == "" {
			_, err := fmt.Fprintln(o.Out, render.ArchivedIn(o.To, saved))
			return err
		}
		return o.print(saved.Printed(o.To))
	})
}

// verify reads an archive. Reading a file knows no context.
func (o *Options) verify(ctx context.Context) error {
	s, err := interrupt.Do(ctx, func() (*archive.Summary, error) { return archive.Verify(o.Verify) })
	if err != nil {
		return err
	}
	a := s.Printed(o.Verify)
	if err := o.Print(ctx, func() error { return o.print(a) }); err != nil {
		return err
	}
	return answer.Refuse(s.Damage)
}

func (o *Options) print(a *v1alpha1.Archive) error {
	switch o.Output.Format() {
	case "", "wide":
		return render.Archive(o.Out, a, o.Style(o.Output))
	case "name":
		return render.ArchiveNames(o.Out, a)
	}
	return o.Output.Write(o.Out, a)
}
