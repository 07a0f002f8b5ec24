package env

import (
	"slices"

	"github.com/spf13/cobra"
)

var dryRuns = []string{"none", "client", "server"}

// AddDryRun adds --dry-run, which without a value is client.
func (e *Env) AddDryRun(cmd *cobra.Command, value *string, usage string) {
	flags := cmd.Flags()
	flags.StringVar(value, "dry-run", "none", usage)
	flags.Lookup("dry-run").NoOptDefVal = "client"
	cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions(dryRuns, cobra.ShellCompDirectiveNoFileComp))
}

// CheckDryRun finds what is wrong with the value of --dry-run.
func CheckDryRun(cmd *cobra.Command, value string) error {
	if !slices.Contains(dryRuns, value) {
		return Usage(cmd, "invalid dry-run value (%v). Must be \"none\", \"server\", or \"client\".", value)
	}
	return nil
}
