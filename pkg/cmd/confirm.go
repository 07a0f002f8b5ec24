package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// refusal is an error for what was not done on purpose; its exit code is 2.
type refusal struct{ error }

// Unwrap makes the hint of a refused error visible.
func (r refusal) Unwrap() error { return r.error }

// confirm refuses what must not be done, shows the plan and asks. Nothing was deleted if it returns an error.
func (f *deleteFlags) confirm(ctx context.Context, client *cluster.Client, d *deletion, p *plannedDeletion) error {
	if len(p.Forbidden) > 0 {
		if err := f.showRefused(p); err != nil {
			return err
		}
		return refuseForbidden(p)
	}
	if len(p.Gaps) > 0 && !f.allowIncomplete {
		if err := f.showRefused(p); err != nil {
			return err
		}
		return refusal{withHint(errors.New("nothing was deleted: dependents may be hidden in what could not be listed"),
			"--dry-run=client shows the plan; --allow-incomplete deletes all the same")}
	}
	if d.policy != plan.Background {
		refused, ignored := act.Check(ctx, client, p.Plan.Plan, d.grace)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(ignored) > 0 {
			return f.ignoresPolicy(p, ignored)
		}
		if err := cannotBlock(refused); err != nil {
			return err
		}
	}
	if f.yes && !f.interactive {
		return nil
	}
	if !f.canAsk() {
		if err := f.showRefused(p); err != nil {
			return err
		}
		return refusal{withHint(errors.New("nothing was deleted: there is no terminal to ask on"), "add --yes to delete what the plan says, or --dry-run=client to see it only")}
	}
	if err := f.show(p); err != nil {
		return err
	}
	return f.ask(ctx)
}

// cannotBlock is the refusal of a strict deletion for which not all references can be made to block. Refused deletes are told when they are
// sent, each for itself.
func cannotBlock(refused []act.Failure) error {
	var errs []error
	for _, r := range refused {
		if r.Action.Verb == plan.VerbBlock {
			errs = append(errs, refusal{withHint(fmt.Errorf("nothing was deleted: %w", r.Err), "without --strict, owners do not wait for dependents that do not block them")})
		}
	}
	return errors.Join(errs...)
}

// canAsk says whether there is somebody to ask.
func (f *deleteFlags) canAsk() bool {
	return f.interactive || f.hasTerminal()
}

// hasTerminal says whether somebody reads what is printed and can answer.
func (c *common) hasTerminal() bool { return printers.IsTerminal(c.In) && printers.IsTerminal(c.Out) }

// ask asks whether to go on, and returns errCancelled unless the answer is yes.
func (c *common) ask(ctx context.Context) error {
	answer, err := c.line(ctx, "Do you want to continue? (y/N): ")
	if err == nil && answer != "y" && answer != "Y" {
		return errCancelled
	}
	return err
}

// line asks a question and returns the answer, empty if there is none. The error says that ctx has ended before; no other question may follow, since whoever
// reads the answer to this one goes on reading.
func (c *common) line(ctx context.Context, question string) (string, error) {
	fmt.Fprint(c.Out, question)
	if c.answers == nil { // one reader for all questions: it may take more than one line at a time
		c.answers = bufio.NewReader(c.In)
	}
	answered := make(chan string, 1)
	go func() {
		line, _ := c.answers.ReadString('\n')
		answered <- line
	}()
	select {
	case line := <-answered:
		if line == "" {
			fmt.Fprintln(c.Out)
		}
		return strings.TrimSpace(line), nil
	case <-ctx.Done():
		fmt.Fprintln(c.Out)
		return "", context.Cause(ctx)
	}
}

// showRefused shows what was not done to a person. A program that asked for names or a Result gets none: it would take the plan's for it.
func (f *deleteFlags) showRefused(p *plannedDeletion) error {
	if format := f.output.format(); format != "" && format != "wide" {
		return nil
	}
	return f.show(p)
}

// errCancelled is an answer other than yes; as for kubectl it is no error.
var errCancelled = errors.New("deletion is cancelled")

// cancelled is errCancelled in other words.
type cancelled string

func (c cancelled) Error() string { return string(c) }

// Is makes it the same to errors.Is.
func (c cancelled) Is(target error) bool { return target == errCancelled }
