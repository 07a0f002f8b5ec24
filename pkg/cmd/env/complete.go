package env

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// CompleteFlag has a shell complete the value of a flag. Cobra keeps the function, and with it the Env
// and all that this knows of a cluster, for the life of the process: one of several clusters has none.
func (e *Env) CompleteFlag(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if e.only == nil {
		_ = cmd.RegisterFlagCompletionFunc(flag, complete) // the flag exists
	}
}

// CompletionTimeout bounds what a person waits after pressing tab.
const CompletionTimeout = 3 * time.Second

// CompleteObjects completes TYPE, TYPE/NAME and TYPE NAME.
func (e *Env) CompleteObjects(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if kind, name, slash := strings.Cut(word, "/"); slash {
		names := e.objectNames(cmd.Context(), kind, name)
		for i := range names {
			names[i] = kind + "/" + names[i]
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	if len(args) > 0 && !strings.Contains(args[0], "/") {
		names := e.objectNames(cmd.Context(), args[0], word)
		return slices.DeleteFunc(names, func(n string) bool { return slices.Contains(args[1:], n) }),
			cobra.ShellCompDirectiveNoFileComp
	}
	types, directive := e.CompleteTypes(cmd.Context(), word)
	if len(args) > 0 {
		for i := range types {
			types[i] += "/"
		}
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return types, directive
}

// CompleteTypes completes the name of a type, with its group where that is needed to tell it from
// another.
func (e *Env) CompleteTypes(ctx context.Context, word string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(ctx, CompletionTimeout)
	defer cancel()
	_, cat, err := e.Connect(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := map[string]int{}
	for _, r := range cat.Resources {
		names[r.Resource]++
	}
	var types []string
	for _, r := range cat.Resources {
		if !r.Deletable() {
			continue
		}
		name := r.Resource
		if names[name] > 1 && r.Group != "" {
			name += "." + r.Group
		}
		if strings.HasPrefix(name, word) {
			types = append(types, name)
		}
	}
	slices.Sort(types)
	return types, cobra.ShellCompDirectiveNoFileComp
}

// CompleteTypeList completes the last of several types with commas between them.
func (e *Env) CompleteTypeList(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	before, last := "", word
	if i := strings.LastIndex(word, ","); i >= 0 {
		before, last = word[:i+1], word[i+1:]
	}
	types, directive := e.CompleteTypes(cmd.Context(), last)
	for i := range types {
		types[i] = before + types[i]
	}
	return types, directive
}

func (e *Env) completeNamespaces(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	return e.objectNames(cmd.Context(), "namespaces", word), cobra.ShellCompDirectiveNoFileComp
}

func (e *Env) completeContexts(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	raw, err := e.Config.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for name := range raw.Contexts {
		if strings.HasPrefix(name, word) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, cobra.ShellCompDirectiveNoFileComp
}

// objectNames returns the names of a type's objects that begin with a prefix; none if they cannot
// be had.
func (e *Env) objectNames(ctx context.Context, word, prefix string) []string {
	ctx, cancel := context.WithTimeout(ctx, CompletionTimeout)
	defer cancel()
	client, cat, err := e.Connect(ctx)
	if err != nil {
		return nil
	}
	t, err := selection.FindType(client, cat, word)
	if err != nil {
		return nil
	}
	namespace := ""
	if t.Namespaced {
		if namespace, err = e.Namespace(); err != nil {
			return nil
		}
	}
	names, err := client.ListNames(ctx, t.Type, namespace)
	if err != nil {
		return nil
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, prefix) })
	slices.Sort(names)
	return names
}
