package deletion

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

const (
	// discoverEvery is how often discovery is read while it shows a type whose definition is gone.
	// There is nothing to watch.
	discoverEvery = 250 * time.Millisecond
	// forgetWithin is how long the API server may take to forget one. A type that is served
	// otherwise stays.
	forgetWithin = 30 * time.Second
)

// discoverWithout reads discovery until it does not show the types any more whose definitions were
// deleted: they cannot be listed, and would be gaps. It returns a client that knows what it read.
func discoverWithout(ctx context.Context, client *cluster.Client, deleted []graph.Ref) (*cluster.Client,
	*cluster.Catalog, error) {
	var types []schema.GroupResource
	for _, ref := range deleted {
		if isOf(ref, []schema.GroupResource{cluster.CRDs}) {
			resource, group, _ := strings.Cut(ref.Name, ".") // by which the API server finds what a definition is for
			types = append(types, schema.GroupResource{Group: group, Resource: resource})
		}
	}
	for end := time.Now().Add(forgetWithin); ; {
		client := client.WithFreshDiscovery()
		catalog, err := client.Discover(ctx)
		if err != nil || !showsAny(catalog, types) || time.Now().After(end) {
			return client, catalog, err
		}
		select {
		case <-time.After(discoverEvery):
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

func showsAny(catalog *cluster.Catalog, types []schema.GroupResource) bool {
	for _, t := range types {
		if _, shown := catalog.Lookup(t); shown {
			return true
		}
	}
	return false
}
