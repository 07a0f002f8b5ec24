package selection

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

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
	return freshGetter{config, client, sync.OnceValue(func() meta.RESTMapper {
		d := client.Discovery()
		return restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(d), d, nil)
	})}
}

// ToDiscoveryClient implements genericclioptions.RESTClientGetter.
func (g freshGetter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return g.client.Discovery(), nil
}

// ToRESTMapper implements genericclioptions.RESTClientGetter. Short names and categories work as in
// kubectl.
func (g freshGetter) ToRESTMapper() (meta.RESTMapper, error) { return g.mapper(), nil }
