package selection

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/suggest"
)

// FindType finds the type that a word means, as kubectl's arguments do: a resource, a kind or a
// short name, with or without version and group.
func FindType(client *cluster.Client, cat *cluster.Catalog, word string) (cluster.Resource, error) {
	return findType(mapperOf(client), cat, word)
}

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
	return cluster.Resource{}, SuggestType(err, cat)
}

// SuggestType adds the nearest type to an error about one that does not exist.
func SuggestType(err error, cat *cluster.Catalog) error {
	word := ""
	if noMatch, ok := errors.AsType[*meta.NoResourceMatchError](err); ok {
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
	return answer.WithHint(err, suggest.DidYouMean(word, candidates))
}

// freshGetter gives cli-runtime's resource builder the discovery of this run in place of kubectl's
// cache on disk, which may be six hours old: a type that is not in it would be unknown.
type freshGetter struct {
	genericclioptions.RESTClientGetter
	client *cluster.Client
	// mapper is made once: the builder asks for it with each object, and making it costs as much as
	// the server has types.
	mapper func() meta.RESTMapper
}

// FreshGetter gives cli-runtime the discovery of this client.
func FreshGetter(config genericclioptions.RESTClientGetter, client *cluster.Client) genericclioptions.RESTClientGetter {
	return freshGetter{config, client, sync.OnceValue(func() meta.RESTMapper { return mapperOf(client) })}
}

func mapperOf(client *cluster.Client) meta.RESTMapper {
	d := client.Discovery()
	return restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(d), d, nil)
}

// ToDiscoveryClient implements genericclioptions.RESTClientGetter.
func (g freshGetter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return g.client.Discovery(), nil
}

// ToRESTMapper implements genericclioptions.RESTClientGetter. Short names and categories work as in
// kubectl.
func (g freshGetter) ToRESTMapper() (meta.RESTMapper, error) { return g.mapper(), nil }

// TypeFilter says which types have rows. Its patterns are globs that match the resource, the
// singular, the kind or a short name, each with or without ".group", or the group alone.
type TypeFilter struct{ include, exclude []string }

// ParseTypeFilter checks the patterns, and that each matches something, which a mistyped one does
// not.
func ParseTypeFilter(include, exclude []string, cat *cluster.Catalog) (TypeFilter, error) {
	for _, p := range slices.Concat(include, exclude) {
		if _, err := path.Match(strings.ToLower(p), ""); err != nil {
			return TypeFilter{}, fmt.Errorf("%q is no pattern: %w", p, err)
		}
		if !slices.ContainsFunc(cat.Resources, func(r cluster.Resource) bool { return matchesType(p, r) }) {
			var names []string
			for _, r := range cat.Resources {
				names = append(names, r.Resource, r.Singular)
			}
			return TypeFilter{}, answer.WithHint(fmt.Errorf("no type matches %q", p), suggest.DidYouMean(p, names))
		}
	}
	return TypeFilter{include, exclude}, nil
}

// Shows returns what reports whether an object of a type has a row; nil if all have.
func (f TypeFilter) Shows(cat *cluster.Catalog) func(graph.Ref) bool {
	if len(f.include) == 0 && len(f.exclude) == 0 {
		return nil
	}
	type kind struct{ group, kind string }
	shown := map[kind]bool{}
	matches := func(r cluster.Resource) func(string) bool {
		return func(p string) bool { return matchesType(p, r) }
	}
	for _, r := range cat.Resources {
		included := len(f.include) == 0 || slices.ContainsFunc(f.include, matches(r))
		if included && !slices.ContainsFunc(f.exclude, matches(r)) {
			shown[kind{r.Group, r.Kind}] = true
		}
	}
	return func(r graph.Ref) bool { return shown[kind{r.Group(), r.Kind}] }
}

func matchesType(pattern string, r cluster.Resource) bool {
	pattern = strings.ToLower(pattern)
	match := func(name string) bool {
		ok, _ := path.Match(pattern, strings.ToLower(name)) // checked by ParseTypeFilter
		return ok
	}
	if r.Group != "" && match(r.Group) {
		return true
	}
	for _, name := range append([]string{r.Resource, r.Singular, r.Kind}, r.ShortNames...) {
		if name != "" && (match(name) || r.Group != "" && match(name+"."+r.Group)) {
			return true
		}
	}
	return false
}
