package cmd

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/plugins"
)

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
