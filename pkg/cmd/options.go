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
			_, err := fmt.Fprintf(e.Out, "The following options can be passed to any command:\n\n%s",
				cmd.Root().PersistentFlags().FlagUsagesWrapped(100))
			return err
		},
	}
}
