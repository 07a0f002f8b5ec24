package selection

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
)

// Meant are the objects that a Request means.
type Meant struct {
	Objects []Object
	// Wrong are the errors of manifests without a name, and of a namespace that does not exist.
	Wrong []error
	// Stays are the objects of UnlessIn.
	Stays map[Place]bool
}

// Objects finds the objects that are meant, as kubectl delete does. It asks the server for those
// that match selectors; that an object exists which a file or an argument names is not asked.
func (r Request) Objects(ctx context.Context, getter genericclioptions.RESTClientGetter, client *cluster.Client,
	catalog *cluster.Catalog) (Meant, error) {
	if r.Selects() && len(r.Args) == 1 && !strings.Contains(r.Args[0], "/") {
		objects, err := r.selected(ctx, getter, client, catalog)
		return Meant{Objects: objects}, err
	}
	if len(r.UnlessIn) > 0 {
		return r.removed(ctx, client, catalog)
	}
	return r.named(ctx, getter, catalog)
}

// named asks kubectl's own builder for what names and files mean.
func (r Request) named(ctx context.Context, getter genericclioptions.RESTClientGetter,
	catalog *cluster.Catalog) (Meant, error) {
	infos, err := infosOf(ctx, resource.NewBuilder(getter).
		Unstructured().
		ContinueOnError().
		NamespaceParam(r.Namespace).DefaultNamespace().
		FilenameParam(r.EnforceNamespace, &r.Files).
		LabelSelectorParam(r.Labels).
		FieldSelectorParam(r.Fields).
		SelectAllParam(r.All).
		AllNamespaces(r.AllNamespaces).
		ResourceTypeOrNameArgs(false, r.Args...).
		RequireObject(false).
		Flatten())
	var meant Meant
	for _, info := range infos {
		// a manifest without one, or with generateName; the path of such an object is that of all
		// of its type
		if info.Name == "" {
			meant.Wrong = append(meant.Wrong, errNameless(info.Source))
			continue
		}
		t, unknown := typeOf(catalog, info.Mapping, info.Name)
		if unknown != nil {
			return Meant{}, unknown
		}
		o := Object{Resource: t, Namespace: t.Place(info.Namespace), Name: info.Name, Source: sourceFile(info.Source)}
		meant.Objects = append(meant.Objects, o)
	}
	return meant, err
}

func typeOf(catalog *cluster.Catalog, mapping *meta.RESTMapping, name string) (cluster.Resource, error) {
	t, known := catalog.Lookup(mapping.Resource.GroupResource())
	if !known {
		return t, fmt.Errorf("deleting %s %q: discovery does not show its type", mapping.Resource.Resource, name)
	}
	return t, nil
}

// selected asks the server for the objects of the types that match. kubectl's builder would do so
// too, and read them whole.
func (r Request) selected(ctx context.Context, getter genericclioptions.RESTClientGetter, client *cluster.Client,
	catalog *cluster.Catalog) ([]Object, error) {
	mappings, err := mappingsOf(getter, r.Namespace, r.Args[0])
	if err != nil {
		return nil, err
	}
	namespace := r.Namespace
	if r.AllNamespaces {
		namespace = ""
	}
	found, errs := make([][]Object, len(mappings)), make([]error, len(mappings))
	cluster.Each(client, mappings, func(i int, mapping *meta.RESTMapping) {
		found[i], errs[i] = r.matching(ctx, client, catalog, mapping, namespace)
	})
	return slices.Concat(found...), utilerrors.NewAggregate(errs)
}

// mappingsOf finds the types that a word or several mean, categories among them, each once.
// kubectl's builder knows; it is asked as if for an object of a name, for which it sends no
// request.
func mappingsOf(getter genericclioptions.RESTClientGetter, namespace, types string) ([]*meta.RESTMapping, error) {
	builder := func() *resource.Builder { return resource.NewBuilder(getter).Unstructured() }
	var mappings []*meta.RESTMapping
	seen := map[schema.GroupVersionKind]bool{}
	for _, word := range resource.SplitResourceArgument(builder().ReplaceAliases(types)) {
		infos, err := builder().NamespaceParam(namespace).ResourceTypeOrNameArgs(false, word,
			"any").RequireObject(false).Do().Infos()
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
func (r Request) matching(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog,
	mapping *meta.RESTMapping, namespace string) ([]Object, error) {
	gvr := mapping.Resource
	namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
	if !namespaced {
		namespace = ""
	}
	asked := graph.Type{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource,
		Kind: mapping.GroupVersionKind.Kind, Namespaced: namespaced}
	selectors := r.Selectors()
	matches, err := client.ListMatching(ctx, asked, namespace, selectors)
	switch {
	case cluster.IsNotSaved(err):
		return nil, fmt.Errorf("%s could not be listed: %w", gvr.GroupResource(), err)
	case err != nil:
		options := metav1.ListOptions{LabelSelector: selectors.Labels, FieldSelector: selectors.Fields}
		return nil, resource.EnhanceListError(err, options, gvr.String())
	}
	if len(matches) == 0 {
		return nil, nil
	}
	t, err := typeOf(catalog, mapping, matches[0].Name)
	if err != nil {
		return nil, err
	}
	objects := make([]Object, len(matches))
	for i, m := range matches {
		objects[i] = Object{Resource: t, Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion}
	}
	return objects, nil
}

// Manifest is an object in a file.
type Manifest struct {
	Object *unstructured.Unstructured
	// Source is the file, URL or stream that it is from.
	Source string
}

// Place is what makes two manifests mean the same object: what applies them goes by it. The version of
// the type does not count.
type Place struct{ Group, Kind, Namespace, Name string }

// Place is that of a manifest: in the given namespace if it names none and its type has some.
func (m Manifest) Place(namespace string, namespaced bool) Place {
	o := m.Object
	p := Place{graph.Ref{APIVersion: o.GetAPIVersion()}.Group(), o.GetKind(), o.GetNamespace(), o.GetName()}
	switch {
	case !namespaced:
		p.Namespace = ""
	case p.Namespace == "":
		p.Namespace = namespace
	}
	return p
}

// Manifests reads the objects in files, as kubectl does, and asks no server. Lists are taken apart.
// It ends with ctx.
func Manifests(ctx context.Context, files resource.FilenameOptions) ([]Manifest, error) {
	infos, err := infosOf(ctx, resource.NewLocalBuilder().
		Unstructured().
		ContinueOnError().
		FilenameParam(false, &files).
		Flatten())
	if err != nil {
		return nil, err
	}
	var all []Manifest
	for _, info := range infos {
		o, ok := info.Object.(*unstructured.Unstructured)
		if !ok {
			return nil, fmt.Errorf("reading %s: %T is no object", info.Source, info.Object)
		}
		all = append(all, Manifest{o, info.Source})
	}
	return all, nil
}

// infosOf returns what a builder finds. It knows no context, and reads files, addresses and
// standard input.
func infosOf(ctx context.Context, b *resource.Builder) ([]*resource.Info, error) {
	return interrupt.Do(ctx, func() ([]*resource.Info, error) { return b.Do().Infos() })
}
