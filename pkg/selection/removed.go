package selection

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// removed finds the objects of Files that UnlessIn does not have. Nothing is read of the server but
// whether the namespace exists: the catalog has the types. The error is of types that discovery does
// not show.
func (r Request) removed(ctx context.Context, client *cluster.Client,
	catalog *cluster.Catalog) (Meant, error) {
	before, err := r.side(ctx, r.Files.Filenames, r.Files.Kustomize)
	if err != nil {
		return Meant{}, err
	}
	after, err := r.side(ctx, r.UnlessIn, "")
	if err != nil {
		return Meant{}, err
	}
	isNameless := func(m Manifest) bool { return m.Object.GetName() == "" } // as a List that has no items at all
	if !slices.ContainsFunc(after, func(m Manifest) bool { return !isNameless(m) }) {
		return Meant{}, fmt.Errorf("no objects found in %s, so all objects of the other side would be deleted: check that the manifests were rendered", r.After())
	}
	stays := map[Place]bool{}
	for _, m := range after {
		t, known, err := served(catalog, m)
		if err != nil {
			return Meant{}, err
		}
		stays[m.Place(r.Namespace, t.Namespaced || !known)] = true
	}
	meant := Meant{Stays: stays}
	var unserved []error
	if err := r.nowhere(ctx, client, catalog, append(before, after...)); err != nil {
		meant.Wrong = append(meant.Wrong, err)
	}
	matching, err := labels.Parse(r.Labels)
	if err != nil {
		return Meant{}, fmt.Errorf("reading the selector: %w", err)
	}
	seen := map[Place]bool{}
	for _, m := range before {
		if !matching.Matches(labels.Set(m.Object.GetLabels())) { // as kubectl takes -l with files
			continue
		}
		if isNameless(m) {
			meant.Wrong = append(meant.Wrong, errNameless(m.Source))
			continue
		}
		t, known, err := served(catalog, m)
		if err != nil {
			return Meant{}, err
		}
		id := m.Place(r.Namespace, t.Namespaced || !known)
		if stays[id] || seen[id] {
			continue
		}
		seen[id] = true
		if !known {
			gvk := m.Object.GroupVersionKind()
			unserved = append(unserved, fmt.Errorf("resource mapping not found for name: %q namespace: %q from %q: %w",
				m.Object.GetName(), m.Object.GetNamespace(), m.Source,
				&meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}))
			continue
		}
		meant.Objects = append(meant.Objects,
			Object{Resource: t, Namespace: id.Namespace, Name: id.Name, Source: sourceFile(m.Source)})
	}
	return meant, utilerrors.NewAggregate(unserved)
}

// nowhere is the server's error if it says that the namespace which was typed does not exist, unless
// the manifests have it: everything would be absent in one that was mistyped.
func (r Request) nowhere(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, all []Manifest) error {
	t, known := catalog.Lookup(cluster.Namespaces)
	is := Place{t.Group, t.Kind, "", r.Namespace}
	if !known || !r.EnforceNamespace ||
		slices.ContainsFunc(all, func(m Manifest) bool { return m.Place("", false) == is }) {
		return nil
	}
	if _, err := client.GetMeta(ctx, t.Type, "", r.Namespace); cluster.IsAbsent(err, t.Type, r.Namespace) {
		return err
	}
	return nil
}

// side reads one of the two sides: as a kustomization what is one, whose files are no objects.
func (r Request) side(ctx context.Context, names []string, kustomization string) ([]Manifest, error) {
	if kustomization != "" {
		return r.read(ctx, resource.FilenameOptions{Filenames: names, Kustomize: kustomization}) // which refuses both
	}
	var all []Manifest
	for _, name := range names {
		files := resource.FilenameOptions{Filenames: []string{name}, Recursive: r.Files.Recursive}
		if holds(name, kustomizations...) {
			files = resource.FilenameOptions{Kustomize: name}
		}
		found, err := r.read(ctx, files)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// Before names the files of the one side as a person does.
func (r Request) Before() string {
	if r.Files.Kustomize != "" {
		return sources([]string{r.Files.Kustomize})
	}
	return sources(r.Files.Filenames)
}

// After names the files of UnlessIn.
func (r Request) After() string { return sources(r.UnlessIn) }

func sources(files []string) string {
	return strings.Join(phrase.Words(files, func(file string) string {
		if file == "-" {
			return "standard input"
		}
		return phrase.Escape(file)
	}), ", ")
}

// read reads some files.
func (r Request) read(ctx context.Context, files resource.FilenameOptions) ([]Manifest, error) {
	for _, name := range files.Filenames {
		if holds(name, "Chart.yaml") {
			return nil, fmt.Errorf("%s is a Helm chart: render it with helm template, and name what that prints", name)
		}
	}
	all, err := Manifests(ctx, files)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		switch in := m.Object.GetNamespace(); {
		case m.Object.GetAPIVersion() == "" || m.Object.GetKind() == "":
			return nil, fmt.Errorf("%s: an object has no apiVersion or no kind", m.Source)
		case graph.Ref{APIVersion: m.Object.GetAPIVersion()}.Group() == "kustomize.config.k8s.io":
			return nil, fmt.Errorf("%s is a kustomization, whose files are no objects: name its folder, without -R", m.Source)
		case r.EnforceNamespace && in != "" && in != r.Namespace:
			return nil, fmt.Errorf("the namespace from the provided object %q does not match the namespace %q: use --namespace=%s",
				in, r.Namespace, in)
		}
	}
	return all, nil
}

// kustomizations are the names of the file that makes a folder a kustomization.
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// sourceFile is the file that a manifest is from: of what a kustomization has built only that is known.
func sourceFile(source string) string {
	if source == "" {
		return ""
	}
	for _, name := range kustomizations {
		if holds(source, name) {
			return filepath.Join(source, name)
		}
	}
	return source
}

// holds reports whether a folder has one of some files.
func holds(folder string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := os.Stat(filepath.Join(folder, name))
		return err == nil
	})
}

// served returns the type of a manifest: that of exactly its version, or one of the group that has
// the kind, since an object is the same in all versions. It is false if discovery shows none.
func served(catalog *cluster.Catalog, m Manifest) (cluster.Resource, bool, error) {
	gvk := m.Object.GroupVersionKind()
	if t, ok := catalog.Kind(m.Object.GetAPIVersion(), gvk.Kind); ok {
		of, known := catalog.Lookup(t.GroupResource())
		return of, known, nil
	}
	var found []cluster.Resource
	for _, of := range catalog.Resources {
		if of.Group == gvk.Group && of.Kind == gvk.Kind {
			found = append(found, of)
		}
	}
	switch len(found) {
	case 0:
		return cluster.Resource{}, false, nil
	case 1:
		return found[0], true, nil
	}
	return cluster.Resource{}, false, fmt.Errorf("%s: kind %s of group %q is that of several types", m.Source, gvk.Kind, gvk.Group)
}

func errNameless(source string) error {
	return fmt.Errorf("error when deleting %q: resource name may not be empty", source)
}
