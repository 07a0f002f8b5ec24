package cmd

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
)

// otherNames are those under which krew can install the plugin besides gc.
var otherNames = []string{"cascade"}

// calledAs is what was typed to run this program: kubectl gc, unless its file has another name of a
// plugin.
func calledAs(program string) string {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	for _, prefix := range []string{"kubectl-", completes} {
		if other, ok := strings.CutPrefix(name, prefix); ok && slices.Contains(otherNames, other) {
			return "kubectl " + other
		}
	}
	return env.DefaultName
}

// rename has the help of a command, and of all below it, name the program as it was called.
func rename(cmd *cobra.Command, called string) {
	if called == env.DefaultName {
		return
	}
	named := func(text *string) { *text = strings.ReplaceAll(*text, env.DefaultName, called) }
	named(&cmd.Long)
	named(&cmd.Short)
	named(&cmd.Example)
	if !cmd.HasParent() {
		cmd.Annotations[cobra.CommandDisplayNameAnnotation] = called
	}
	usage := cmd.UsageTemplate()
	named(&usage)
	cmd.SetUsageTemplate(usage)
	flags := func(f *pflag.Flag) { named(&f.Usage) }
	cmd.Flags().VisitAll(flags)
	cmd.PersistentFlags().VisitAll(flags)
	for _, below := range cmd.Commands() {
		rename(below, called)
	}
}
