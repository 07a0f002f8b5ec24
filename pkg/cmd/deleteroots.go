package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// selectors are those of the flags, which the server evaluates. kubectl trims them too.
func (f *deleteFlags) selectors() cluster.Selectors {
	return cluster.Selectors{Labels: strings.TrimSpace(f.selector), Fields: strings.TrimSpace(f.fieldSelector)}
}

// labels is the label selector, nil for none. The server has accepted it by the time that it is needed.
func (f *deleteFlags) labels() (labels.Selector, error) {
	text := f.selectors().Labels
	if text == "" || f.hasFiles() {
		return nil, nil
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("reading the selector: %w", err)
	}
	return selector, nil
}

func (f *deleteFlags) hasFiles() bool { return len(f.files.Filenames) > 0 || f.files.Kustomize != "" }

// selects says whether objects are meant because they match, and not by name.
func (f *deleteFlags) selects() bool {
	return (f.all || f.selectors() != cluster.Selectors{}) && !f.hasFiles()
}

// resolve finds out which objects are meant, as kubectl delete does. Objects that a file or a name means and that do not
// exist are found out later, by the listing.
func (f *deleteFlags) resolve(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, d *deletion, args []string) ([]object, []error, error) {
	namespace, enforce, err := f.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, nil, err
	}
	getter := newFreshGetter(f.config, client)
	var objects []object
	var nameless []error
	if f.selects() && len(args) == 1 && !strings.Contains(args[0], "/") {
		objects, err = f.selected(ctx, getter, catalog, namespace, args[0])
	} else {
		objects, nameless, err = f.named(getter, catalog, namespace, enforce, args)
	}
	if d.ignoreNotFound && apierrors.IsNotFound(err) {
		err = nil
	}
	if err != nil && len(objects) == 0 {
		return nil, nil, suggestType(err, catalog)
	}
	var missing []error
	if err != nil {
		missing = append(missing, err)
	}
	if enforce && !f.allNamespaces && slices.ContainsFunc(objects, func(o object) bool { return !o.Namespaced }) {
		fmt.Fprintln(f.ErrOut, "Warning: deleting cluster-scoped resources, not scoped to the provided namespace")
	}
	return objects, append(missing, nameless...), nil
}

// named asks kubectl's own builder for what names and files mean. The errors are of objects without a name.
func (f *deleteFlags) named(getter freshGetter, catalog *cluster.Catalog, namespace string, enforce bool, args []string) ([]object, []error, error) {
	infos, err := resource.NewBuilder(getter).
		Unstructured().
		ContinueOnError().
		NamespaceParam(namespace).DefaultNamespace().
		FilenameParam(enforce, &f.files).
		LabelSelectorParam(f.selector).
		FieldSelectorParam(f.fieldSelector).
		SelectAllParam(f.all).
		AllNamespaces(f.allNamespaces).
		ResourceTypeOrNameArgs(false, args...).
		RequireObject(false).
		Flatten().
		Do().Infos()
	var objects []object
	var nameless []error
	for _, info := range infos {
		if info.Name == "" { // a manifest without one, or with generateName; the path of such an object is that of all of its type
			nameless = append(nameless, fmt.Errorf("error when deleting %q: resource name may not be empty", info.Source))
			continue
		}
		t, unknown := typeOf(catalog, info.Mapping, info.Name)
		if unknown != nil {
			return nil, nil, unknown
		}
		o := object{Resource: t, namespace: info.Namespace, name: info.Name}
		if !t.Namespaced {
			o.namespace = ""
		}
		objects = append(objects, o)
	}
	return objects, nameless, err
}

func typeOf(catalog *cluster.Catalog, mapping *meta.RESTMapping, name string) (cluster.Resource, error) {
	t, known := catalog.Lookup(mapping.Resource.GroupResource())
	if !known {
		return t, fmt.Errorf("deleting %s %q: discovery does not show its type", mapping.Resource.Resource, name)
	}
	return t, nil
}

// selected asks the server for the objects of the types that match. kubectl's builder would do so too, and read them whole.
func (f *deleteFlags) selected(ctx context.Context, getter freshGetter, catalog *cluster.Catalog, namespace, types string) ([]object, error) {
	mappings, err := mappingsOf(getter, namespace, types)
	if err != nil {
		return nil, err
	}
	if f.allNamespaces {
		namespace = ""
	}
	found, errs := make([][]object, len(mappings)), make([]error, len(mappings))
	var group errgroup.Group
	group.SetLimit(getter.client.Concurrency())
	for i, mapping := range mappings {
		group.Go(func() error {
			found[i], errs[i] = f.matching(ctx, getter.client, catalog, mapping, namespace)
			return nil
		})
	}
	_ = group.Wait() // each error is in its place
	return slices.Concat(found...), utilerrors.NewAggregate(errs)
}

// mappingsOf finds the types that a word or several mean, categories among them, each once. kubectl's builder knows; it is asked as if for an object
// of a name, for which it sends no request.
func mappingsOf(getter freshGetter, namespace, types string) ([]*meta.RESTMapping, error) {
	builder := func() *resource.Builder { return resource.NewBuilder(getter).Unstructured() }
	var mappings []*meta.RESTMapping
	seen := map[schema.GroupVersionKind]bool{}
	for _, word := range resource.SplitResourceArgument(builder().ReplaceAliases(types)) {
		infos, err := builder().NamespaceParam(namespace).ResourceTypeOrNameArgs(false, word, "any").RequireObject(false).Do().Infos()
		if err != nil {
			return nil, err
		}
		if m := infos[0].Mapping; !seen[m.GroupVersionKind] {
			seen[m.GroupVersionKind] = true
			mappings = append(mappings, m)
		}
	}
	return mappings, nil
}

// matching lists the objects of one type, in the version that was asked for.
func (f *deleteFlags) matching(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, mapping *meta.RESTMapping, namespace string) ([]object, error) {
	gvr := mapping.Resource
	namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
	if !namespaced {
		namespace = ""
	}
	t := graph.Type{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource, Kind: mapping.GroupVersionKind.Kind, Namespaced: namespaced}
	selectors := f.selectors()
	matches, err := client.Matching(ctx, t, namespace, selectors)
	if err != nil {
		options := metav1.ListOptions{LabelSelector: selectors.Labels, FieldSelector: selectors.Fields}
		return nil, resource.EnhanceListError(err, options, gvr.String())
	}
	if len(matches) == 0 {
		return nil, nil
	}
	r, err := typeOf(catalog, mapping, matches[0].Name)
	if err != nil {
		return nil, err
	}
	objects := make([]object, len(matches))
	for i, m := range matches {
		objects[i] = object{Resource: r, namespace: m.Namespace, name: m.Name, uid: m.UID, version: m.ResourceVersion}
	}
	return objects, nil
}
