// Package garbagecollector stands in for upstream's package of that name in upstream's own tests:
// its collector is a process, kubectl gc run --yes --watch.
package garbagecollector

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/test/utils/ktesting"
)

// GarbageCollector is a collector that runs outside of the test's process. It is safe for
// concurrent use.
type GarbageCollector struct {
	test     ktesting.TContext
	proxy    *proxy
	served   discovery.DiscoveryInterface
	metadata metadata.Interface
}

// NewGarbageCollector takes what upstream's takes, and the configuration of a client, with which
// the process connects. Like upstream's it does nothing until it is run.
func NewGarbageCollector(test ktesting.TContext, config *rest.Config, client kubernetes.Interface,
	objects metadata.Interface, _ meta.ResettableRESTMapper,
	_ map[schema.GroupResource]struct{}, _ informerfactory.InformerFactory, _ <-chan struct{}) (*GarbageCollector, error) {
	p, err := startProxy(test, config)
	if err != nil {
		return nil, err
	}
	return &GarbageCollector{test, p, client.Discovery(), objects}, nil
}

// DefaultIgnoredResources is for NewGarbageCollector, which has no use for it: the process knows
// which types it need not list.
func DefaultIgnoredResources() map[schema.GroupResource]struct{} { return nil }

// Run runs the process until the context ends. The test fails if the process ends before.
func (gc *GarbageCollector) Run(ctx context.Context, _ int, _ time.Duration) {
	collect(ctx, gc.test, gc.proxy.kubeconfig)
}

// Sync does nothing: the process finds new types itself.
func (gc *GarbageCollector) Sync(context.Context, discovery.ServerResourcesInterface, time.Duration) {
}

// IsSynced reports whether the process watches all types whose objects can be deleted, in the
// versions that discovery prefers, which are those that upstream's collector watches. Where one
// cannot be converted the process watches another.
func (gc *GarbageCollector) IsSynced(logger klog.Logger) bool {
	served, err := gc.served.ServerPreferredResources()
	if err != nil {
		logger.Error(err, "finding out what is served")
		return false
	}
	watchable := discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"delete", "list", "watch"}}, served)
	types, err := discovery.GroupVersionResources(watchable)
	if err != nil {
		logger.Error(err, "reading what is served")
		return false
	}
	for t := range types {
		if t.Resource != "events" && !gc.proxy.watches(t) {
			return false
		}
	}
	return true
}

// asked are the types of the objects that upstream's tests ask about.
var asked = []string{"pods", "replicationcontrollers", "configmaps"}

// GraphHasUID reports whether there is an object of that uid. What upstream's graph has by then may
// be behind; the process lists the dependents of an owner before it orphans them, so that the tests
// need not wait for it.
func (gc *GarbageCollector) GraphHasUID(uid types.UID) bool {
	for _, resource := range asked {
		list, err := gc.metadata.Resource(schema.GroupVersionResource{Version: "v1", Resource: resource}).List(gc.test,
			metav1.ListOptions{})
		if err != nil {
			gc.test.Errorf("looking for the object %s: %v", uid, err)
			return false
		}
		if slices.ContainsFunc(list.Items, func(o metav1.PartialObjectMetadata) bool { return o.UID == uid }) {
			return true
		}
	}
	return false
}
