package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// rootFlags are the flags that say which objects are meant; they are kubectl's.
type rootFlags struct {
	files         resource.FilenameOptions
	selector      string
	allNamespaces bool
}

func (f *rootFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.files.Filenames, "filename", "f", nil, "Filename, directory, or URL to files that name the objects")
	flags.StringVarP(&f.files.Kustomize, "kustomize", "k", "", "Process the kustomization directory. This flag can't be used together with -f or -R")
	flags.BoolVarP(&f.files.Recursive, "recursive", "R", false, "Process the directory used in -f, --filename recursively")
	flags.StringVarP(&f.selector, "selector", "l", "", "Selector (label query) to filter on, supports '=', '==', '!=', 'in', 'notin'")
	flags.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "If present, look across all namespaces")
	cmd.RegisterFlagCompletionFunc("selector", cobra.NoFileCompletions)
}

// object is one object by name.
type object struct {
	cluster.Resource
	namespace, name string
	// uid, if not empty, is the one that it has to have; version is the resourceVersion in which the server found that it matches a selector.
	uid, version string
}

func (o object) ref() graph.Ref {
	return graph.Ref{APIVersion: o.APIVersion(), Kind: o.Kind, Resource: o.Resource.Resource, Namespace: o.namespace, Name: o.name, UID: o.uid}
}

// roots says which objects are meant. If nothing is set, all of the scope are.
type roots struct {
	objects []object
	// types are those of which all objects are meant, or those that match the selector.
	types    []cluster.Resource
	selector labels.Selector
}

// all says that no object in particular is meant.
func (r roots) all() bool { return len(r.objects) == 0 && len(r.types) == 0 && r.selector == nil }

// clusterScoped says whether a cluster-scoped object is meant, whose dependents can be anywhere.
func (r roots) clusterScoped() bool {
	return slices.ContainsFunc(r.objects, func(o object) bool { return !o.Namespaced }) ||
		slices.ContainsFunc(r.types, func(t cluster.Resource) bool { return !t.Namespaced })
}

// validate looks at what was typed before anything is asked of the server.
func (f *rootFlags) validate(cmd *cobra.Command, args []string) (labels.Selector, error) {
	files := len(f.files.Filenames) > 0 || f.files.Kustomize != ""
	switch {
	case files && len(args) > 0:
		return nil, usage(cmd, "when paths or stdin is provided as input, you may not specify resource arguments as well")
	case files && f.selector != "":
		return nil, usage(cmd, "--selector cannot be used together with --filename or --kustomize")
	case len(args) > 1 && f.selector != "", len(args) == 1 && f.selector != "" && strings.Contains(args[0], "/"):
		return nil, usage(cmd, "name cannot be provided when a selector is specified")
	}
	if errs := f.files.RequireFilenameOrKustomize(); files && errs != nil {
		return nil, usageError{errs, cmd.CommandPath()}
	}
	if f.selector == "" {
		return nil, nil
	}
	selector, err := labels.Parse(f.selector)
	if err != nil {
		return nil, usage(cmd, "--selector: %w", err)
	}
	return selector, nil
}

// resolve finds out what the arguments mean on this server. It asks for nothing but discovery.
func (f *rootFlags) resolve(getter genericclioptions.RESTClientGetter, cat *cluster.Catalog, namespace string, selector labels.Selector, args []string) (roots, error) {
	r := roots{selector: selector}
	mapper, err := getter.ToRESTMapper()
	if err != nil {
		return r, err
	}
	files := len(f.files.Filenames) > 0 || f.files.Kustomize != ""
	if len(args) == 0 && !files {
		return r, nil
	}
	if len(args) == 1 && !strings.Contains(args[0], "/") {
		for _, name := range strings.Split(args[0], ",") {
			t, err := findType(mapper, cat, name)
			if err != nil {
				return r, err
			}
			r.types = append(r.types, t)
		}
		return r, nil
	}
	infos, err := resource.NewBuilder(getter).
		Unstructured().
		ContinueOnError().
		NamespaceParam(namespace).DefaultNamespace().AllNamespaces(f.allNamespaces).
		FilenameParam(false, &f.files).
		ResourceTypeOrNameArgs(false, args...).
		RequireObject(false).
		Flatten().
		Do().Infos()
	if err != nil {
		return r, suggestType(err, cat)
	}
	for _, info := range infos {
		t, known := cat.Lookup(info.Mapping.Resource.GroupResource())
		if !known {
			return r, fmt.Errorf("the server doesn't list %s", info.Mapping.Resource.GroupResource())
		}
		o := object{Resource: t, namespace: info.Namespace, name: info.Name}
		if !t.Namespaced {
			o.namespace = ""
		}
		r.objects = append(r.objects, o)
	}
	if len(r.objects) == 0 {
		return r, errors.New("no objects passed")
	}
	return r, nil
}

// findType finds the type that a word means, as kubectl's arguments do: a resource, a kind or a short name, with or without
// version and group.
func findType(mapper meta.RESTMapper, cat *cluster.Catalog, word string) (cluster.Resource, error) {
	var gvr schema.GroupVersionResource
	full, groupResource := schema.ParseResourceArg(word)
	err := error(&meta.NoResourceMatchError{PartialResource: groupResource.WithVersion("")})
	if full != nil {
		gvr, _ = mapper.ResourceFor(*full)
	}
	if gvr.Empty() {
		gvr, err = mapper.ResourceFor(groupResource.WithVersion(""))
	}
	if gvr.Empty() {
		fullKind, groupKind := schema.ParseKindArg(word)
		versions := []string{}
		if fullKind != nil {
			groupKind, versions = fullKind.GroupKind(), []string{fullKind.Version}
		}
		if mapping, kindErr := mapper.RESTMapping(groupKind, versions...); kindErr == nil {
			gvr = mapping.Resource
		}
	}
	if t, known := cat.Lookup(gvr.GroupResource()); known && !gvr.Empty() {
		return t, nil
	}
	if err == nil {
		err = &meta.NoResourceMatchError{PartialResource: groupResource.WithVersion("")}
	}
	return cluster.Resource{}, suggestType(err, cat)
}

// suggestType adds the nearest type to an error about one that does not exist.
func suggestType(err error, cat *cluster.Catalog) error {
	word := ""
	var noMatch *meta.NoResourceMatchError
	if errors.As(err, &noMatch) {
		word = noMatch.PartialResource.Resource
	} else if _, rest, ok := strings.Cut(err.Error(), "the server doesn't have a resource type \""); ok {
		word, _, _ = strings.Cut(rest, `"`)
	}
	if word == "" {
		return err
	}
	var candidates []string
	for _, r := range cat.Resources {
		candidates = append(candidates, r.Resource, r.Singular)
	}
	return withHint(err, didYouMean(word, candidates))
}
