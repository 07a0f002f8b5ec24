package why

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/browse"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// browse shows the causes as a list until it is left, and runs the first step of the remedy of one
// after a question. What was done may have changed the others: all is examined again.
func (o *Options) browse(ctx context.Context, d *v1alpha1.Diagnosis) (*v1alpha1.Diagnosis, error) {
	for at := 0; ; {
		causes := render.Causes(d, time.Now(), o.Style(o.Output))
		if len(causes) == 0 {
			return d, o.print(d)
		}
		choice, chosen, err := browse.Show(ctx, o.In, o.Out, o.list(d, causes), at)
		if err != nil || choice == browse.Leave {
			return d, err
		}
		at = chosen
		if choice == browse.Act {
			if err := o.act(ctx, causes[at]); errors.Is(err, answer.ErrCancelled) {
				fmt.Fprintln(o.Out, err)
				continue
			} else if err != nil {
				return d, err
			}
		}
		if d, err = o.again(ctx); err != nil {
			return nil, err
		}
	}
}

// again examines what is left of the objects that were named. That one is not there any more is what
// it was all about.
func (o *Options) again(ctx context.Context) (*v1alpha1.Diagnosis, error) {
	for {
		d, err := o.examine(ctx)
		var status apierrors.APIStatus
		if !apierrors.IsNotFound(err) || !errors.As(err, &status) || status.Status().Details == nil {
			return d, err
		}
		gone, named := status.Status().Details, len(o.Args)
		o.Args = slices.DeleteFunc(slices.Clone(o.Args), func(arg string) bool {
			return arg == gone.Name || strings.HasSuffix(arg, "/"+gone.Name)
		})
		inside := gone.Kind == "namespaces"
		if !inside && len(o.Args) == named {
			return nil, err
		}
		fmt.Fprintln(o.Out, render.Escape(err.Error()))
		if inside || len(o.Args) == 0 || len(o.Args) == 1 && !strings.Contains(o.Args[0], "/") {
			return &v1alpha1.Diagnosis{Complete: true}, nil
		}
	}
}

// list is what is shown of the causes.
func (o *Options) list(d *v1alpha1.Diagnosis, causes []render.Cause) browse.List {
	l := browse.List{Act: "run step 1", Again: true, Title: o.Titled(render.DiagnosisSummary(d, time.Now()))}
	for _, c := range causes {
		l.Entries = append(l.Entries, browse.Entry(c.Listed))
	}
	return l
}

// act runs the commands of the first step of a remedy, each as it is printed, once they have been
// shown and agreed to. A command of kubectl gc shows its plan then, and asks about that.
func (o *Options) act(ctx context.Context, c render.Cause) error {
	if len(c.Commands) == 0 {
		return o.goOn(ctx, "There is no command for this.")
	}
	var programs []*exec.Cmd
	for _, command := range c.Commands {
		program, err := o.program(ctx, command)
		if err != nil {
			return o.goOn(ctx, err.Error())
		}
		programs = append(programs, program)
		fmt.Fprintln(o.Out, render.Escape(command))
	}
	if does := render.Doing(c.Step); does != "" {
		fmt.Fprintln(o.Out, "  "+does)
	}
	name := ""
	if c.Step.Risk == "data-loss" {
		name = c.Object
	}
	if err := o.Confirm(ctx, render.Question, name, "nothing was run"); err != nil {
		return err
	}
	for _, program := range programs {
		if err := program.Run(); err != nil {
			fmt.Fprintf(o.ErrOut, "error: %s: %v\n", render.Escape(program.String()), err)
			break
		}
	}
	return o.goOn(ctx, "")
}

// goOn leaves what was printed on the screen until somebody has read it.
func (o *Options) goOn(ctx context.Context, says string) error {
	_, err := o.Line(ctx, strings.TrimLeft(render.Escape(says)+" Press Enter to examine again: ", " "))
	return err
}

// program is a process that runs a command as it is printed: kubectl gc is this very program.
func (o *Options) program(ctx context.Context, command string) (*exec.Cmd, error) {
	words := phrase.Split(command)
	if len(words) < 2 || words[0] != "kubectl" {
		return nil, fmt.Errorf("only a shell can run this: %s", command)
	}
	path, args := words[0], words[1:]
	if strings.HasPrefix(command, o.Called+" ") {
		own, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding this program: %w", err)
		}
		path, args = own, words[2:]
	}
	program := exec.CommandContext(ctx, path, args...) //nolint:gosec // the words of a printed command, agreed to
	program.Stdin, program.Stdout, program.Stderr = o.In, o.Out, o.ErrOut
	program.Cancel = func() error { return program.Process.Signal(os.Interrupt) } // it ends by itself
	return program, nil
}
