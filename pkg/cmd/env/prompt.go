package env

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
)

// HasTerminal says whether somebody reads what is printed and can answer.
func (e *Env) HasTerminal() bool { return printers.IsTerminal(e.In) && printers.IsTerminal(e.Out) }

// Confirm asks whether to go on. Unless the answer is yes, the error says that it was cancelled,
// and what was left undone; kubectl's words if that is empty.
func (e *Env) Confirm(ctx context.Context, question, undone string) error {
	reply, err := e.Line(ctx, question)
	switch {
	case err != nil, reply == "y", reply == "Y":
		return err
	case undone == "":
		return answer.ErrCancelled
	}
	return answer.Cancelled("cancelled; " + undone)
}

// Line asks a question and returns the answer, empty if there is none. The error says that ctx has
// ended before; no other question may follow, since whoever reads the answer to this one goes on
// reading.
func (e *Env) Line(ctx context.Context, question string) (string, error) {
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
