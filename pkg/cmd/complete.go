package cmd

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// completionTimeout bounds what a person waits after pressing tab.
const completionTimeout = 3 * time.Second

// completeObjects completes TYPE, TYPE/NAME and TYPE NAME.
func (c *common) completeObjects(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if kind, name, slash := strings.Cut(word, "/"); slash {
		names := c.objectNames(cmd.Context(), kind, name)
		for i := range names {
			names[i] = kind + "/" + names[i]
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	if len(args) > 0 && !strings.Contains(args[0], "/") {
		names := c.objectNames(cmd.Context(), args[0], word)
		return slices.DeleteFunc(names, func(n string) bool { return slices.Contains(args[1:], n) }), cobra.ShellCompDirectiveNoFileComp
	}
	types, directive := c.completeTypes(cmd.Context(), word)
	if len(args) > 0 {
		for i := range types {
			types[i] += "/"
		}
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return types, directive
}

// completeTypes completes the name of a type, with its group where that is needed to tell it from another.
func (c *common) completeTypes(ctx context.Context, word string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	_, cat, err := c.catalog(ctx)
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

// completeTypeList completes the last of several types with commas between them.
func (c *common) completeTypeList(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	before, last := "", word
	if i := strings.LastIndex(word, ","); i >= 0 {
		before, last = word[:i+1], word[i+1:]
	}
	types, directive := c.completeTypes(cmd.Context(), last)
	for i := range types {
		types[i] = before + types[i]
	}
	return types, directive
}

func (c *common) completeNamespaces(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	return c.objectNames(cmd.Context(), "namespaces", word), cobra.ShellCompDirectiveNoFileComp
}

func (c *common) completeContexts(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	raw, err := c.config.ToRawKubeConfigLoader().RawConfig()
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

func (c *common) catalog(ctx context.Context) (*cluster.Client, *cluster.Catalog, error) {
	client, err := c.client()
	if err != nil {
		return nil, nil, err
	}
	cat, err := interruptible(ctx, client.Discover)
	return client, cat, err
}

// objectNames returns the names of a type's objects that begin with a prefix; none if they cannot be had.
func (c *common) objectNames(ctx context.Context, word, prefix string) []string {
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	client, cat, err := c.catalog(ctx)
	if err != nil {
		return nil
	}
	mapper, err := newFreshGetter(c.config, client).ToRESTMapper()
	if err != nil {
		return nil
	}
	t, err := findType(mapper, cat, word)
	if err != nil {
		return nil
	}
	namespace := ""
	if t.Namespaced {
		if namespace, err = c.namespace(); err != nil {
			return nil
		}
	}
	names, err := client.Names(ctx, t.Type, namespace)
	if err != nil {
		return nil
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, prefix) })
	slices.Sort(names)
	return names
}
