package cluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/klog/v2"
)

// onceDiscovery asks the server once and remembers the answer, an error too. client-go's memory
// cache, which stands in front of it, would log the error besides returning it.
type onceDiscovery struct {
	*discovery.DiscoveryClient
	answered answered[discovered]
}

type discovered struct {
	groups    *metav1.APIGroupList
	resources map[schema.GroupVersion]*metav1.APIResourceList
	failed    map[schema.GroupVersion]error
	err       error
}

func (d *onceDiscovery) ask(ctx context.Context) discovered {
	return d.answered.once(ctx, func() (a discovered) {
		a.groups, a.resources, a.failed, a.err = d.DiscoveryClient.GroupsAndMaybeResourcesWithContext(ctx)
		if a.err == nil && a.resources == nil {
			klog.FromContext(
				ctx).V(1).Info("The server does not answer discovery in two documents, so each group version is asked for",
				"groups", len(a.groups.Groups))
		}
		return a
	})
}

// GroupsAndMaybeResourcesWithContext implements discovery.AggregatedDiscoveryInterfaceWithContext.
func (d *onceDiscovery) GroupsAndMaybeResourcesWithContext(ctx context.Context) (*metav1.APIGroupList,
	map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error, error) {
	a := d.ask(ctx)
	return a.groups, a.resources, a.failed, a.err
}
