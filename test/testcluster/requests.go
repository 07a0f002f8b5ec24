package testcluster

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// requests makes kubectl's requests from this process, with kubectl's own package for naming
// objects. It is safe for concurrent use.
type requests struct {
	config *rest.Config
	served discovery.CachedDiscoveryInterface
	cached *restmapper.DeferredDiscoveryRESTMapper
}

func newRequests(config *rest.Config) (*requests, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	served := memory.NewMemCacheClient(client)
	return &requests{config: config, served: served, cached: restmapper.NewDeferredDiscoveryRESTMapper(served)}, nil
}

// ToRESTConfig, ToDiscoveryClient and ToRESTMapper are what package resource asks for.
func (r *requests) ToRESTConfig() (*rest.Config, error) { return rest.CopyConfig(r.config), nil }

func (r *requests) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return r.served, nil
}

func (r *requests) ToRESTMapper() (meta.RESTMapper, error) {
	return restmapper.NewShortcutExpander(r.cached, r.served, nil), nil
}

// builder starts naming objects, whose namespace is this one where they say no other.
func (r *requests) builder(namespace string) *resource.Builder {
	return resource.NewBuilder(r).Unstructured().ContinueOnError().NamespaceParam(namespace).DefaultNamespace()
}

func helper(info *resource.Info, manager string) *resource.Helper {
	return resource.NewHelper(info.Client, info.Mapping).WithFieldManager(manager)
}
