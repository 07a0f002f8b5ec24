package explain

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// completeFinalizers completes the names of finalizers; of a form, what it begins with.
func (o *Options) completeFinalizers(_ *cobra.Command, args []string, word string) ([]string,
	cobra.ShellCompDirective) {
	known, err := o.Known()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := slices.DeleteFunc(known.Forms(), func(form string) bool {
		return !strings.HasPrefix(form, word) || strings.ContainsAny(form, "^*") || slices.Contains(args, form)
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (o *Options) completeComponents(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	known, err := o.Known()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := slices.DeleteFunc(known.Components(), func(name string) bool {
		return !strings.HasPrefix(strings.ToLower(name), strings.ToLower(word))
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}
