package env

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Objects are the flags that say which objects are meant. They are kubectl's.
type Objects struct {
	Files         resource.FilenameOptions
	Selector      string
	AllNamespaces bool
}

// AddFlags adds the flags to a command.
func (o *Objects) AddFlags(e *Env, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&o.Files.Filenames, "filename", "f", nil,
		"Filename, directory, or URL to files that name the objects")
	flags.StringVarP(&o.Files.Kustomize, "kustomize", "k", "",
		"Process the kustomization directory. This flag can't be used together with -f or -R")
	flags.BoolVarP(&o.Files.Recursive, "recursive", "R", false, "Process the directory used in -f, --filename recursively")
	flags.StringVarP(&o.Selector, "selector", "l", "",
		"Selector (label query) to filter on, supports '=', '==', '!=', 'in', 'notin'")
	flags.BoolVarP(&o.AllNamespaces, "all-namespaces", "A", false, "If present, look across all namespaces")
	e.CompleteFlag(cmd, "selector", cobra.NoFileCompletions)
}

// HasFiles reports whether files name the objects.
func (o *Objects) HasFiles() bool { return len(o.Files.Filenames) > 0 || o.Files.Kustomize != "" }

// Named reports whether objects were named or selected, and not all of a namespace or cluster are
// meant.
func (o *Objects) Named(args []string) bool { return len(args) > 0 || o.Selector != "" || o.HasFiles() }

// Validate checks what was typed before anything is asked of the server.
func (o *Objects) Validate(cmd *cobra.Command, args []string) error {
	switch {
	case o.HasFiles() && len(args) > 0:
		return Usage(cmd, "when paths or stdin is provided as input, you may not specify resource arguments as well")
	case o.HasFiles() && o.Selector != "":
		return Usage(cmd, "--selector cannot be used together with --filename or --kustomize")
	case len(args) > 1 && o.Selector != "", len(args) == 1 && o.Selector != "" && strings.Contains(args[0], "/"):
		return Usage(cmd, "name cannot be provided when a selector is specified")
	}
	if errs := o.Files.RequireFilenameOrKustomize(); o.HasFiles() && errs != nil {
		return UsageError(cmd, errs)
	}
	if _, err := labels.Parse(o.Selector); err != nil {
		return Usage(cmd, "--selector: %w", err)
	}
	return nil
}

// request is what was typed. Namespace is that of -n.
func (o *Objects) request(namespace string, args []string) selection.Request {
	return selection.Request{Args: args, Files: o.Files, Namespace: namespace, AllNamespaces: o.AllNamespaces,
		Labels: o.Selector}
}

// scope tells of -A.
func (o *Objects) scope(e *Env) {
	if o.AllNamespaces {
		e.Scope = "all namespaces"
	}
}

// Complete fills in what was typed in a request that has its field selector, UnlessIn and All. The namespace
// is that of -n, or of the kubeconfig.
func (o *Objects) Complete(r *selection.Request, e *Env, args []string) error {
	o.scope(e)
	namespace, enforce, err := e.Config.ToRawKubeConfigLoader().Namespace()
	meant := o.request(namespace, args)
	meant.EnforceNamespace, meant.Fields, meant.All, meant.UnlessIn = enforce, r.Fields, r.All, r.UnlessIn
	*r = meant
	return err
}

// CheckOne checks that arguments name one object, as TYPE/NAME or TYPE NAME.
func CheckOne(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && strings.Count(args[0], "/") == 1 || len(args) == 2 && !strings.Contains(args[0]+args[1], "/") {
		return nil
	}
	return Usage(cmd, "you must specify one object: TYPE/NAME or TYPE NAME")
}

// One finds out which object is meant, and what was asked of its server.
func (e *Env) One(ctx context.Context, args []string) (*selection.Query, selection.Object, error) {
	q, err := e.Query(ctx, &Objects{}, args)
	if err != nil {
		return nil, selection.Object{}, err
	}
	if len(q.Objects) != 1 {
		return nil, selection.Object{},
			fmt.Errorf("%s means %d objects, and one is changed at a time", strings.Join(args, " "), len(q.Objects))
	}
	return q, q.Objects[0], nil
}

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
	types, directive := e.completeTypes(cmd.Context(), word)
	if len(args) > 0 {
		for i := range types {
			types[i] += "/"
		}
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return types, directive
}

// completeTypes completes the name of a type, with its group where that is needed to tell it from
// another.
func (e *Env) completeTypes(ctx context.Context, word string) ([]string, cobra.ShellCompDirective) {
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
		types = append(types, name)
	}
	return Beginning(types, word), cobra.ShellCompDirectiveNoFileComp
}

// CompleteTypeList completes the last of several types with commas between them.
func (e *Env) CompleteTypeList(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	before, last := "", word
	if i := strings.LastIndex(word, ","); i >= 0 {
		before, last = word[:i+1], word[i+1:]
	}
	types, directive := e.completeTypes(cmd.Context(), last)
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
	return Beginning(slices.Collect(maps.Keys(raw.Contexts)), word), cobra.ShellCompDirectiveNoFileComp
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
	return Beginning(names, prefix)
}

// Beginning are those of some names that begin with what was typed, sorted. It changes the slice.
func Beginning(names []string, typed string) []string {
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, typed) })
	slices.Sort(names)
	return names
}
