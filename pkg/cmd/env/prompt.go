package env

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// HasTerminal reports whether somebody reads what is printed and can answer.
func (e *Env) HasTerminal() bool { return printers.IsTerminal(e.In) && printers.IsTerminal(e.Out) }

// Confirm asks whether to go on. The answer is y; or a name that has to be typed, where it is not
// empty; or in a protected context that of the context. Unless it is that, the error says that it
// was cancelled, and what was left undone; kubectl's words if that is empty.
func (e *Env) Confirm(ctx context.Context, question, name, undone string) error {
	asked := "To continue, type the name %s: "
	if context := e.protected(); context != "" {
		name, asked = context, "The context is protected. To continue, type its name %s: "
	}
	if name != "" {
		question = strings.TrimSuffix(question, render.Question) + fmt.Sprintf(asked, render.Escape(name))
	}
	reply, err := e.Line(ctx, question)
	switch {
	case err != nil, name == "" && (reply == "y" || reply == "Y"), name != "" && reply == name:
		return err
	case undone == "":
		return answer.ErrCancelled
	}
	return answer.Cancelled("cancelled; " + undone)
}

// Line says which cluster it is about, asks a question and returns the answer, empty if there is
// none. The error says that ctx has ended before; no other question may follow, since whoever reads
// the answer to this one goes on reading.
func (e *Env) Line(ctx context.Context, question string) (string, error) {
	when, _ := render.ParseColor(e.Color)
	if err := render.Paragraphs(e.Out, []string{e.where()}, render.NewStyle(when, e.Out, false)); err != nil {
		return "", err
	}
	fmt.Fprint(e.Out, question)
	if e.answers == nil { // one reader for all questions: it may take more than one line at a time
		e.answers = bufio.NewReader(e.In)
	}
	answered := make(chan string, 1)
	go func() {
		line, _ := e.answers.ReadString('\n')
		answered <- line
	}()
	select {
	case line := <-answered:
		if line == "" {
			fmt.Fprintln(e.Out)
		}
		return strings.TrimSpace(line), nil
	case <-ctx.Done():
		fmt.Fprintln(e.Out)
		return "", context.Cause(ctx)
	}
}

// AddExitZero adds --exit-zero.
func AddExitZero(cmd *cobra.Command, value *bool) {
	cmd.Flags().BoolVar(value, "exit-zero", false,
		"Exit with code 0 whatever was found, and also if not everything could be examined; an error is still 1")
}

// Answer leaves out, with --exit-zero, that something was found or that the answer is incomplete;
// the output says both. An error stays.
func (e *Env) Answer(err error, exitZero bool) error {
	if !exitZero || err == nil {
		return err
	}
	if errors.Is(err, answer.ErrFound) {
		return nil
	}
	if answer.IsRefusal(err) {
		render.Warn(e.ErrOut, "%v", err)
		return nil
	}
	return err
}

// usageError is an error in what was typed, before anything was asked of a server.
type usageError struct {
	error
	command string
}

func (e usageError) Unwrap() error { return e.error }

// Usage makes an error of what is wrong with what was typed.
func Usage(cmd *cobra.Command, format string, args ...any) error {
	return UsageError(cmd, fmt.Errorf(format, args...))
}

// UsageError says that an error is in what was typed.
func UsageError(cmd *cobra.Command, err error) error { return usageError{err, cmd.CommandPath()} }

// Mistyped returns the command of a usage error; empty for other errors.
func Mistyped(err error) string {
	usage, _ := errors.AsType[usageError](err)
	return usage.command
}

// RunE is what a command does: it checks what was typed, which fills in the options, and calls runF
// with them, or run if that is nil.
func RunE[Options any](o *Options, validate func(*cobra.Command, []string) error,
	runF, run func(context.Context, *Options) error) func(*cobra.Command, []string) error {
	if runF == nil {
		runF = run
	}
	return func(cmd *cobra.Command, args []string) error {
		if err := validate(cmd, args); err != nil {
			return err
		}
		return runF(cmd.Context(), o)
	}
}
