package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/adopt"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/delete"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/protect"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/rescue"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/run"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/tree"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/unfinalize"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/wait"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/why"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/suggest"
	"github.com/kubectl-gc/kubectl-gc/plugins"
)

// NewRoot returns the kubectl gc command with all its subcommands.
func NewRoot(streams genericiooptions.IOStreams) *cobra.Command {
	return newRoot(newEnv(streams), func(*rest.Config) {})
}

// newEnv returns the environment of a command that is called by itself.
func newEnv(streams genericiooptions.IOStreams) *env.Env {
	return env.New(streams, genericclioptions.NewConfigFlags(true))
}

// newRoot is NewRoot in an environment, for clients whose configurations are changed by bind.
func newRoot(e *env.Env, bind func(*rest.Config)) *cobra.Command {
	waits := cluster.NewPending(func(line string) { fmt.Fprintln(e.ErrOut, render.OwnLine(e.ErrOut, line)) })
	e.Config.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config.UserAgent = userAgent()
		config.WarningHandler = rest.NewWarningWriter(e.ErrOut, rest.WarningWriterOptions{Deduplicate: true})
		bind(config)
		config.Wrap(waits.Wrap)
		return config
	}
	root := &cobra.Command{
		Use:           "kubectl-gc",
		Short:         "Preview, perform and unstick cascading deletions",
		Long:          "See what a deletion will cascade to, perform it, and find out why it is stuck.",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl gc"},
		SilenceErrors: true,
		SilenceUsage:  true,
		// Without it cobra suggests only what begins as typed.
		SuggestionsMinimumDistance: 2,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			targets, err := e.Targets(cmd)
			if err != nil {
				return err
			}
			if err := e.Validate(cmd); err != nil || targets == nil {
				return err
			}
			return askMany(e, cmd, targets)
		},
	}
	root.SetOut(e.Out)
	root.SetErr(e.ErrOut)
	root.SetIn(e.In)
	root.SetFlagErrorFunc(mistypedFlag)
	e.AddFlags(root)
	addVersionFlag(root)
	root.SetUsageTemplate(rootTemplate)
	root.SetHelpTemplate(helpTemplate)
	root.AddGroup(groups...)
	addGroup(root, "look", tree.New(e, nil), why.New(e, nil), check.New(e, nil), explain.New(e, nil))
	addGroup(root, "delete", delete.New(e, nil), wait.New(e, nil), run.New(e, nil), protect.New(e, nil))
	addGroup(root, "repair", unfinalize.New(e, nil), rescue.New(e, nil), adopt.New(e, nil), adopt.NewDisown(e, nil),
		archive.New(e, nil), restore.New(e, nil), snapshot.New(e, nil))
	addGroup(root, "other", newCompletion(e), newOptions(e), newVersion(e))
	return root
}

// unknownCommand gives an unknown subcommand kubectl's words and cobra's suggestions.
func unknownCommand(root *cobra.Command, name string) error {
	err := env.Usage(root, "unknown command %q for %q", name, root.CommandPath())
	near := slices.Compact(root.SuggestionsFor(name)) // twice what is near by its letters and by another word
	if len(near) > 0 {
		return answer.WithHint(err, "did you mean "+strings.Join(near, " or ")+"?")
	}
	return err
}

// mistypedFlag says that an error is in the flags that were typed, and which flag is near to one
// that there is not. A flag of a mistyped command is unknown to the root, and is not what is wrong.
func mistypedFlag(cmd *cobra.Command, err error) error {
	if typed := cmd.Flags().Args(); !cmd.HasParent() && len(typed) > 0 {
		return unknownCommand(cmd, typed[0])
	}
	usage := env.UsageError(cmd, err)
	unknown, is := errors.AsType[*pflag.NotExistError](err)
	if !is || unknown.GetSpecifiedShortnames() != "" {
		return usage
	}
	near := suggest.New("--" + unknown.GetSpecifiedName())
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			near.Consider("--" + f.Name)
		}
	})
	return answer.WithHint(usage, near.Hint())
}

// newOptions prints the flags that all commands take, which would hide a command's own in its help.
func newOptions(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "options",
		Short: "Print the list of flags that all commands take",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(e.Out, "The following options can be passed to any command:\n\n%s",
				cmd.Root().PersistentFlags().FlagUsagesWrapped(100))
			return err
		},
	}
}

// The groups of commands in the help of the root.
var groups = []*cobra.Group{
	{ID: "look", Title: "Look:"},
	{ID: "delete", Title: "Delete and collect:"},
	{ID: "repair", Title: "Repair and save:"},
	{ID: "other", Title: "Other:"},
}

// helpTemplate is cobra's without the blank line of the root, for which its screen has no room.
const helpTemplate = `{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}
{{end}}{{if .HasParent}}
{{end}}{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}`

// rootTemplate fits on a screen of 24 lines. What all commands take is left to kubectl gc options.
const rootTemplate = `{{$commands := .Commands}}{{range .Groups}}{{.Title}}
{{$id := .ID}}{{range $commands}}{{if and (eq .GroupID $id) .IsAvailableCommand}}  {{rpad .Name 11}} {{.Short}}
{{end}}{{end}}{{end}}Usage: kubectl gc COMMAND [TYPE/NAME ...] [flags]; COMMAND -h says more.
`

// usageTemplate gives a subcommand a usage text without the connection flags, which would hide its
// own.
const usageTemplate = `Usage:
  {{.UseLine}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalNonPersistentFlags.FlagUsagesWrapped 100 | trimTrailingWhitespaces}}{{end}}

Use "kubectl gc options" for the flags that all commands take.
`

// addGroup adds commands in the group of an ID.
func addGroup(root *cobra.Command, id string, commands ...*cobra.Command) {
	for _, cmd := range commands {
		cmd.GroupID = id
		cmd.SetUsageTemplate(usageTemplate)
	}
	root.AddCommand(commands...)
}

// otherNames are those under which krew can install the plugin besides gc.
var otherNames = []string{"cascade"}

// calledAs is what was typed to run this program: kubectl gc, unless its file has another name of a
// plugin.
func calledAs(program string) string {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	for _, prefix := range []string{"kubectl-", completes} {
		if other, ok := strings.CutPrefix(name, prefix); ok && slices.Contains(otherNames, other) {
			return "kubectl " + other
		}
	}
	return env.DefaultName
}

// rename has the help of a command, and of all below it, name the program as it was called.
func rename(cmd *cobra.Command, called string) {
	if called == env.DefaultName {
		return
	}
	named := func(text *string) { *text = strings.ReplaceAll(*text, env.DefaultName, called) }
	named(&cmd.Long)
	named(&cmd.Short)
	named(&cmd.Example)
	if !cmd.HasParent() {
		cmd.Annotations[cobra.CommandDisplayNameAnnotation] = called
	}
	usage := cmd.UsageTemplate()
	named(&usage)
	cmd.SetUsageTemplate(usage)
	flags := func(f *pflag.Flag) { named(&f.Usage) }
	cmd.Flags().VisitAll(flags)
	cmd.PersistentFlags().VisitAll(flags)
	for _, below := range cmd.Commands() {
		rename(below, called)
	}
}

// errUnread ends a command whose output nobody reads any more, as that before a head or a pager.
var errUnread = fmt.Errorf("what it prints is not read any more: %w", context.Canceled)

// whileRead returns a context that also ends when a write to one of the streams finds its reader
// gone. Terminals stay what they are: they end by a signal.
func whileRead(ctx context.Context, streams genericiooptions.IOStreams) (context.Context, genericiooptions.IOStreams,
	func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	watched := func(w io.Writer) io.Writer {
		if printers.IsTerminal(w) {
			return w
		}
		return &readWriter{w, func() { cancel(errUnread) }}
	}
	streams.Out, streams.ErrOut = watched(streams.Out), watched(streams.ErrOut)
	return ctx, streams, func() { cancel(nil) }
}

// readWriter calls unread when a write fails since nobody reads.
type readWriter struct {
	io.Writer
	unread func()
}

// noReaderError is of a write to one of the streams. A file of the command's, such as an audit, can
// be a pipe too: that nobody reads it is to be told.
type noReaderError struct{ error }

func isUnread(err error) bool { return errors.As(err, &noReaderError{}) }

// Write implements io.Writer.
func (w *readWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		w.unread()
		err = noReaderError{err}
	}
	return n, err
}

// shells are those for which cobra writes a script, by the argument of kubectl gc completion.
var shells = map[string]func(root *cobra.Command, out io.Writer) error{
	"bash":       func(root *cobra.Command, out io.Writer) error { return root.GenBashCompletionV2(out, true) },
	"zsh":        (*cobra.Command).GenZshCompletion,
	"fish":       func(root *cobra.Command, out io.Writer) error { return root.GenFishCompletion(out, true) },
	"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
}

func newCompletion(e *env.Env) *cobra.Command {
	names := slices.Sorted(maps.Keys(shells))
	windows := false
	cmd := &cobra.Command{
		Use:   "completion [" + strings.Join(names, "|") + "]",
		Short: "Print the script through which kubectl or a shell completes",
		Long: `Print the script through which kubectl completes the arguments of kubectl gc or, with the name of
a shell, the script through which that shell completes those of kubectl-gc, called without kubectl.

kubectl (1.26 and later) asks an executable called kubectl_complete-gc on the PATH. krew
installs a single file, so put the script there once; a link of that name to kubectl-gc does as
well. Types, names, namespaces and flags are then completed wherever kubectl's own completion is
set up. On Windows the file is called kubectl_complete-gc.cmd, and --windows prints it.`,
		Example: `  # Install it beside a plugin that came with krew
  kubectl gc completion > ~/.krew/bin/kubectl_complete-gc && chmod +x ~/.krew/bin/kubectl_complete-gc

  # The same on Windows, in PowerShell
  kubectl gc completion --windows | Set-Content $HOME\.krew\bin\kubectl_complete-gc.cmd

  # Complete kubectl-gc in this bash
  source <(kubectl-gc completion bash)`,
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return env.Usage(cmd, "you must specify one shell at most: %s", strings.Join(names, ", "))
			case len(args) == 1 && shells[args[0]] == nil:
				return env.Usage(cmd, "unsupported shell %q: use %s, or none for the script that kubectl runs", args[0],
					strings.Join(names, ", "))
			case len(args) == 1 && windows:
				return env.Usage(cmd, "--windows is about the script that kubectl runs, and cannot be used together with a shell")
			case len(args) == 1:
				return shells[args[0]](cmd.Root(), e.Out)
			}
			shim := plugins.CompletionShim
			if windows {
				shim = plugins.WindowsCompletionShim
			}
			_, err := fmt.Fprint(e.Out, shim)
			return err
		},
	}
	cmd.Flags().BoolVar(&windows, "windows", false, "Print the script that kubectl runs on Windows")
	return cmd
}
