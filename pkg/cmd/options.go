package cmd

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"

	"github.com/spf13/cobra"
)

// newOptions prints the flags that all commands take, which would hide a command's own in its help.
func newOptions(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "options",
		Short: "Print the list of flags that all commands take",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(e.Out, "The following options can be passed to any command:\n\n%s", cmd.Root().PersistentFlags().FlagUsagesWrapped(100))
			return err
		},
	}
}

const usageTemplate = `Usage:
  {{.UseLine}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalNonPersistentFlags.FlagUsagesWrapped 100 | trimTrailingWhitespaces}}{{end}}

Use "kubectl gc options" for the flags that all commands take.
`

// hideGlobalFlags gives a subcommand a usage text without the connection flags.
func hideGlobalFlags(cmd *cobra.Command) { cmd.SetUsageTemplate(usageTemplate) }
