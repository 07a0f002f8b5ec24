package env

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// usageError is an error in what was typed, before anything was asked of a server.
type usageError struct {
	error
	command string
}

func (e usageError) Unwrap() error { return e.error }

// Usage makes an error of what is wrong with what was typed.
func Usage(cmd *cobra.Command, format string, args ...any) error {
	return UsageError(cmd, fmt.Errorf(format, args...))
}

// UsageError says that an error is in what was typed.
func UsageError(cmd *cobra.Command, err error) error { return usageError{err, cmd.CommandPath()} }

// Mistyped returns the command of a usage error; empty for other errors.
func Mistyped(err error) string {
	var usage usageError
	if errors.As(err, &usage) {
		return usage.command
	}
	return ""
}
