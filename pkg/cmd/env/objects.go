package env

import (
	"context"
	"fmt"
	"strings"

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

// HasFiles says whether files name the objects.
func (o *Objects) HasFiles() bool { return len(o.Files.Filenames) > 0 || o.Files.Kustomize != "" }

// Named says whether objects were named or selected, and not all of a namespace or cluster are
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

// Request is what was typed. Namespace is that of -n.
func (o *Objects) Request(namespace string, args []string) selection.Request {
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
	meant := o.Request(namespace, args)
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
