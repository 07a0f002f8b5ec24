package env

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// HasTerminal says whether somebody reads what is printed and can answer.
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
		question = strings.TrimSuffix(question, Question) + fmt.Sprintf(asked, render.Escape(name))
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
	if err := render.Paragraphs(e.Out, []string{e.Where()}, render.NewStyle(when, e.Out, false)); err != nil {
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
