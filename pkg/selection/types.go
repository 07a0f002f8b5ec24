package selection

import (
	"errors"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
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
