// Package flags parses command lines of kubectl gc in tests, without a server: it returns the
// options that a command would run with.
package flags

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
)

// Parse runs a command with arguments as far as its options. They are nil if the command refuses
// the arguments, which the error says.
func Parse[Options any](command func(*env.Env, func(context.Context, *Options) error) *cobra.Command,
	args ...string) (*Options, error) {
	var got *Options
	cmd := command(env.New(genericiooptions.NewTestIOStreamsDiscard(), genericclioptions.NewConfigFlags(true)),
		func(_ context.Context, o *Options) error {
			got = o
			return nil
		})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.Execute()
	return got, err
}
