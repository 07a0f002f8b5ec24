package cmd

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/plugins"
)

func newCompletion(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "completion",
		Short: "Print the script through which kubectl completes kubectl gc",
		Long: `Print the script through which kubectl completes the arguments of kubectl gc.

kubectl (1.26 and later) asks an executable called kubectl_complete-gc on the PATH. krew
installs a single file, so put the script there once; a link of that name to kubectl-gc does as
well. Types, names, namespaces and flags are then completed wherever kubectl's own completion is
set up.`,
		Example: `  # Install it beside a plugin that came with krew
  kubectl gc completion > ~/.krew/bin/kubectl_complete-gc && chmod +x ~/.krew/bin/kubectl_complete-gc`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(e.Out, plugins.CompletionShim)
			return err
		},
	}
}
