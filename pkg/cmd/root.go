package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/adopt"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/delete"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/disown"
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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/suggest"
)

// NewRoot returns the kubectl gc command with all its subcommands.
func NewRoot(streams genericiooptions.IOStreams) *cobra.Command {
	root, _ := newRoot(streams, func(*rest.Config) {})
	return root
}

// newRoot is NewRoot for clients whose configurations are changed by bind. It also returns the
// environment of the command that runs.
func newRoot(streams genericiooptions.IOStreams, bind func(*rest.Config)) (*cobra.Command, *env.Env) {
	config := genericclioptions.NewConfigFlags(true)
	e := env.New(streams, config)
	waits := cluster.NewPending(func(line string) { fmt.Fprintln(e.ErrOut, render.OwnLine(e.ErrOut, line)) })
	config.WrapConfigFn = func(config *rest.Config) *rest.Config {
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
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SetIn(streams.In)
	root.SetFlagErrorFunc(mistypedFlag)
	e.AddFlags(root)
	addVersionFlag(root)
	root.SetUsageTemplate(rootTemplate)
	root.SetHelpTemplate(helpTemplate)
	root.AddGroup(groups...)
	addGroup(root, "look", tree.New(e, nil), why.New(e, nil), check.New(e, nil), explain.New(e, nil))
	addGroup(root, "delete", delete.New(e, nil), wait.New(e, nil), run.New(e, nil), protect.New(e, nil))
	addGroup(root, "repair", unfinalize.New(e, nil), rescue.New(e, nil), adopt.New(e, nil), disown.New(e, nil),
		archive.New(e, nil), restore.New(e, nil), snapshot.New(e, nil))
	addGroup(root, "other", newCompletion(e), newOptions(e), newVersion(e))
	return root, e
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
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
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
