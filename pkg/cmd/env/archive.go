package env

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
)

// CheckArchive finds what is wrong with --archive before anything is asked of the server; needs says what it goes with.
func CheckArchive(cmd *cobra.Command, file, dryRun, needs string) error {
	switch {
	case !cmd.Flags().Changed("archive"):
		return nil
	case file == "":
		return Usage(cmd, "--archive needs the name of a file")
	case file == "-":
		return Usage(cmd, "--archive does not write to standard output, which is for the result; name a file")
	case dryRun != "none":
		return Usage(cmd, "--archive needs %s", needs)
	}
	if err := archive.Check(file); err != nil {
		return Usage(cmd, "--archive: %w", err)
	}
	return nil
}
