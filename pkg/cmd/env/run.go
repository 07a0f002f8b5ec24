package env

import (
	"context"

	"github.com/spf13/cobra"
)

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
