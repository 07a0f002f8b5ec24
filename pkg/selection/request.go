package selection

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Request is what a user typed to say which objects are meant, in kubectl's words.
type Request struct {
	// Args are TYPE/NAME..., TYPE NAME... or TYPE[,TYPE...]; without any, and without files, all
	// objects are meant.
	Args  []string
	Files resource.FilenameOptions
	// UnlessIn are files, folders and kustomizations: an object of Files is meant only if they do not
	// have it. Empty for all of Files.
	UnlessIn []string
	// Namespace is where objects without a namespace of their own are. With EnforceNamespace a file
	// that names another one is an error.
	Namespace        string
	EnforceNamespace bool
	AllNamespaces    bool
	// Labels and Fields are selectors as they were typed.
	Labels, Fields string
	// All means all objects of the types.
	All bool
}

// HasFiles reports whether files name the objects.
func (r Request) HasFiles() bool { return len(r.Files.Filenames) > 0 || r.Files.Kustomize != "" }

// Selectors are those that the server evaluates. kubectl trims them too.
func (r Request) Selectors() cluster.Selection {
	return cluster.Selection{Labels: strings.TrimSpace(r.Labels), Fields: strings.TrimSpace(r.Fields)}
}

// Selects reports whether objects are meant because they match, and not by name.
func (r Request) Selects() bool {
	return (r.All || r.Selectors() != cluster.Selection{}) && !r.HasFiles()
}

// Selector is the label selector; nil for none.
func (r Request) Selector() (labels.Selector, error) {
	text := r.Selectors().Labels
	if text == "" || r.HasFiles() {
		return nil, nil
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("reading the selector: %w", err)
	}
	return selector, nil
}

// Object is one object by name.
type Object struct {
	cluster.Resource
	Namespace, Name string
	// UID, if not empty, is the one that it must have.
	UID string
	// ResourceVersion, if not empty, is the one in which the server found that it matches a
	// selector.
	ResourceVersion string
	// Source is the file, URL or kustomization that names it; empty if none does.
	Source string
}

// Ref is the object as graphs name it.
func (o Object) Ref() graph.Ref {
	return o.Type.Ref(o.Namespace, o.Name, o.UID)
}

// Selection says which objects are meant. If nothing is set, all objects are.
type Selection struct {
	Objects []Object
	// Types are those of which all objects are meant, or those that match the selector.
	Types    []cluster.Resource
	Selector labels.Selector
}

// All says that no object in particular is meant.
func (s Selection) All() bool { return len(s.Objects) == 0 && len(s.Types) == 0 && s.Selector == nil }

// ClusterScoped reports whether a cluster-scoped object is meant, whose dependents can be anywhere.
func (s Selection) ClusterScoped() bool {
	return slices.ContainsFunc(s.Objects, func(o Object) bool { return !o.Namespaced }) ||
		slices.ContainsFunc(s.Types, func(t cluster.Resource) bool { return !t.Namespaced })
}

// releasePrefix is how an argument names a Helm release: helm/shop.
const releasePrefix = "helm/"

// revisionPrefix is how the Secrets of a release begin; its name, ".v" and the revision follow
// (pkg/storage of Helm).
const revisionPrefix = "sh.helm.release.v1."

// withReleases returns the request with the Secret of its last revision in the place of each Helm
// release that an argument names, unless the server has a type that is called so. Helm keeps a
// release in Secrets; which of them there are is asked by label.
func (r Request) withReleases(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog) (Request, error) {
	var args []string
	for _, arg := range r.Args {
		name, is := strings.CutPrefix(arg, releasePrefix)
		if !is || serves(catalog, strings.TrimSuffix(releasePrefix, "/")) {
			args = append(args, arg)
			continue
		}
		secret, err := r.release(ctx, client, catalog, name)
		if err != nil {
			return r, err
		}
		args = append(args, "secret/"+secret)
	}
	r.Args = args
	return r, nil
}

// serves reports whether a word is the name of a type.
func serves(catalog *cluster.Catalog, word string) bool {
	return slices.ContainsFunc(catalog.Resources, func(t cluster.Resource) bool {
		return t.Type.Resource == word || t.Singular == word || slices.Contains(t.ShortNames, word)
	})
}

// release returns the name of the Secret of the last revision of a release.
func (r Request) release(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, name string) (string,
	error) {
	secrets, ok := catalog.Lookup(schema.GroupResource{Resource: "secrets"})
	if !ok {
		return "", fmt.Errorf("reading Helm release %q: discovery does not show secrets", name)
	}
	matches, err := client.ListMatching(ctx, secrets.Type, r.Namespace,
		cluster.Selection{Labels: "owner=helm,name=" + name})
	if err != nil {
		return "", fmt.Errorf("reading Helm release %q: %w", name, err)
	}
	last, latest := "", -1
	for _, m := range matches {
		revision, isRelease := strings.CutPrefix(m.Name, revisionPrefix+name+".v")
		if n, err := strconv.Atoi(revision); isRelease && err == nil && n > latest {
			last, latest = m.Name, n
		}
	}
	if last == "" {
		return "", fmt.Errorf("reading Helm release %q: not found in namespace %q; helm list -A shows all releases", name,
			r.Namespace)
	}
	return last, nil
}
