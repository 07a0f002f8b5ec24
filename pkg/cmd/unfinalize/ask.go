package unfinalize

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/browse"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

func (o *Options) show(p *unfinalize.Planned) error {
	return o.Show(func(s render.Style) error { return render.UnfinalizePlan(o.Out, p, false, s) },
		func() error { return render.UnfinalizeNames(o.Out, p) }, func() env.Document { return p.Printed() })
}

// nothing says that there is nothing to do.
func (o *Options) nothing(p *unfinalize.Planned) error {
	switch {
	case o.Output.IsOwn():
		fmt.Fprintln(o.ErrOut, render.UnfinalizeNothing(p))
		return nil
	case o.DryRun != "none":
		return o.show(p)
	}
	return o.Output.Write(o.Out, p.Result(nil, nil))
}

// choose asks which of the finalizers that are there are to be removed. It is refused without a
// terminal.
func (o *Options) choose(ctx context.Context, p *unfinalize.Planned) (unfinalize.Choice, error) {
	if !o.Asks() || !o.Output.IsOwn() {
		return nil, errors.Join(o.ShowRefused(func() error { return o.show(p) }), answer.Refuse(answer.WithHint(
			errors.New("nothing was removed: no finalizer was named, and there is no terminal to ask on"),
			"name the finalizers to remove: "+phrase.Command("--finalizer", p.FirstName()))))
	}
	if o.Interactive {
		return o.pick(ctx, p)
	}
	if err := errors.Join(o.Head(o.Out), render.UnfinalizePlan(o.Out, p, true, o.Style(o.Output))); err != nil {
		return nil, err
	}
	reply, err := o.Line(ctx, "Which do you want to remove? (numbers, comma separated; nothing cancels): ")
	switch {
	case err != nil:
		return nil, err
	case reply == "":
		return nil, answer.Cancelled("cancelled; nothing was removed")
	}
	return chosen(p.Rows(), reply)
}

// pick has one finalizer chosen in a list.
func (o *Options) pick(ctx context.Context, p *unfinalize.Planned) (unfinalize.Choice, error) {
	rows := p.Rows()
	l := browse.List{Act: "choose it", Title: o.Titled(phrase.Count(len(rows), "finalizer"))}
	for _, e := range render.UnfinalizeChoices(p, o.Style(o.Output)) {
		l.Entries = append(l.Entries, browse.Entry(e))
	}
	how, row, err := browse.Show(ctx, o.In, o.Out, l, 0)
	switch {
	case err != nil:
		return nil, err
	case how == browse.Leave:
		return nil, answer.Cancelled("cancelled; nothing was removed")
	}
	choice := unfinalize.Choice{}
	choice.Add(rows[row])
	return choice, nil
}

// chosen are the finalizers of the rows whose numbers were typed.
func chosen(rows []unfinalize.Row, reply string) (unfinalize.Choice, error) {
	choice := unfinalize.Choice{}
	for _, word := range strings.Split(reply, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > len(rows) {
			return nil, fmt.Errorf("nothing was removed: %q is not a number from 1 to %d", strings.TrimSpace(word), len(rows))
		}
		choice.Add(rows[n-1])
	}
	return choice, nil
}

// confirm shows the plan and asks. Nothing was written if it returns an error.
func (o *Options) confirm(ctx context.Context, p *unfinalize.Planned) error {
	if o.Yes {
		out := o.Out
		if !o.Lines() {
			out = o.ErrOut
		}
		return render.UnfinalizeLosses(out, p) // what is lost and left behind is said in any case
	}
	return o.Agree(ctx, func() error { return o.show(p) }, render.UnfinalizeQuestion(p, o.Style(o.Output)),
		p.Precious(), "nothing was removed")
}
