package unfinalize

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/browse"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

func run(ctx context.Context, o *Options) error {
	known, err := o.Known()
	if err != nil {
		return err
	}
	args := o.Args
	if o.Tree != "" {
		args = []string{o.Tree}
	}
	q, err := o.Query(ctx, &o.Objects, args)
	if err != nil {
		return err
	}
	p, err := unfinalize.Plan(ctx, q, known, o.request(ctx))
	if err != nil {
		return q.WithPlace(ctx, err)
	}
	finding := p.Finding()
	switch refused := render.UnfinalizeRefusal(p, o.KeepGoing); {
	case len(p.Batches) == 0:
		return errors.Join(o.nothing(p), finding)
	case o.DryRun != "none":
		return errors.Join(o.show(p), refused, finding)
	case len(p.Allowed().Batches) == 0, refused != nil && !o.KeepGoing:
		return errors.Join(o.ShowRefused(func() error { return o.show(p) }), refused, finding)
	default:
		if err := o.confirm(ctx, p); err != nil {
			return errors.Join(err, refused, finding)
		}
		if o.Archive != "" {
			saved, err := unfinalize.Save(ctx, q.Client, p, o.Archive)
			if err != nil {
				return errors.Join(err, finding)
			}
			o.Archived(saved)
		}
		opts := unfinalize.Options{KeepGoing: o.KeepGoing}
		if o.Lines() {
			opts.OnEvent = render.UnfinalizeEvents(o.Out)
		}
		outcomes := unfinalize.Perform(ctx, q.Client, p.Allowed(), opts)
		return errors.Join(o.result(ctx, p, outcomes), refused, finding)
	}
}

// request is what the flags come to.
func (o *Options) request(ctx context.Context) unfinalize.Request {
	return unfinalize.Request{
		Finalizers: o.Finalizers, AllStuck: o.AllStuck, Tree: o.Tree != "", DryRun: o.DryRun != "client",
		Overrides: unfinalize.Overrides{Force: o.Force, ForceLive: o.ForceLive, Asked: o.MayAsk()},
		Choose:    func(p *unfinalize.Planned) (unfinalize.Choice, error) { return o.choose(ctx, p) },
		OnGaps:    func(gaps []v1alpha1.Gap) { render.WarnGaps(o.ErrOut, gaps) },
		OnLeftAlone: func(object graph.Ref, why error) {
			render.Warn(o.ErrOut, "%s is left alone: %v", render.Quoted(object), why)
		},
		OnSecondLook: func(namespace string, wait time.Duration) {
			fmt.Fprintf(o.ErrOut, "nothing found in namespace %s; looking again in %s\n", render.Escape(namespace), wait)
		},
	}
}

// result says what came of what was agreed to.
func (o *Options) result(ctx context.Context, p *unfinalize.Planned, outcomes []*unfinalize.Outcome) error {
	known, _ := o.Known() // which was read for the plan
	return errors.Join(o.Tell(
		func() error { return render.UnfinalizeOutcomes(o.Out, o.ErrOut, outcomes, known) },
		func() error { return render.UnfinalizedNames(o.Out, outcomes) },
		func() env.Document {
			return p.Result(outcomes, func(u *unfinalize.Outcome) string { return render.UnfinalizeLeft(u, known) })
		}), render.UnfinalizeErrors(outcomes, ctx.Err() != nil))
}

func (o *Options) show(p *unfinalize.Planned) error {
	return o.Show(func(s render.Style) error { return render.UnfinalizePlan(o.Out, p, false, s) },
		func() error { return render.UnfinalizeNames(o.Out, p) }, func() env.Document { return p.Printed() })
}

// nothing says that there is nothing to do.
func (o *Options) nothing(p *unfinalize.Planned) error {
	switch {
	case o.Output.IsOwn():
		render.Message(o.ErrOut, "", render.UnfinalizeNothing(p))
		return nil
	case o.DryRun != "none":
		return o.show(p)
	}
	return o.Output.Write(o.Out, p.Result(nil, nil))
}

// unasked says why nobody is asked which finalizers are to be removed.
func (o *Options) unasked() string {
	switch {
	case o.DryRun != "none":
		return "a dry run does not ask for one"
	case o.Yes:
		return "with --yes nobody is asked for one"
	case !o.Output.IsOwn():
		return "with -o " + o.Output.Format() + " nobody is asked for one"
	}
	return "there is no terminal to ask on"
}

// choose asks which of the finalizers that are there are to be removed. It is refused without a
// terminal, and of a dry run.
func (o *Options) choose(ctx context.Context, p *unfinalize.Planned) (unfinalize.Choice, error) {
	if !o.Asks() || !o.Output.IsOwn() {
		return nil, errors.Join(o.ShowRefused(func() error { return o.show(p) }), answer.Refuse(answer.WithHint(
			errors.New("nothing was removed: no finalizer was named, and "+o.unasked()),
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
