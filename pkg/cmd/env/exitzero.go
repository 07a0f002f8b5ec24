package env

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
)

// AddExitZero adds --exit-zero.
func AddExitZero(cmd *cobra.Command, value *bool) {
	cmd.Flags().BoolVar(value, "exit-zero", false,
		"Exit with code 0 whatever was found, and also if not everything could be examined; an error is still 1")
}

// Answer leaves out, with --exit-zero, that something was found or that the answer is incomplete;
// the output says both. An error stays.
func (e *Env) Answer(err error, exitZero bool) error {
	if !exitZero || err == nil {
		return err
	}
	if errors.Is(err, answer.ErrFound) {
		return nil
	}
	if answer.IsRefusal(err) {
		fmt.Fprintf(e.ErrOut, "Warning: %v\n", err)
		return nil
	}
	return err
}
