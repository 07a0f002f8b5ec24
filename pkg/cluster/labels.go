package cluster

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Labels reads the labels of objects of a graph live, as metadata. An object without labels has an
// empty set; one that could not be read, or that has another uid by now, has none: nothing is known
// of its labels. The error is that ctx has ended.
func (c *Client) Labels(ctx context.Context, g *graph.Graph, ids []graph.ID) (map[graph.ID]map[string]string, error) {
	wanted := make(map[string]graph.ID, len(ids))
	for _, id := range ids {
		wanted[g.Ref(id).UID] = id
	}
	var mu sync.Mutex
	all := make(map[graph.ID]map[string]string, len(ids))
	requests := RequestObjects(g, ids)
	for i := range requests {
		requests[i].metadata = true
	}
	reads := c.reads(requests, func(o *unstructured.Unstructured) error {
		mu.Lock()
		defer mu.Unlock()
		if id, ok := wanted[string(o.GetUID())]; ok {
			all[id] = o.GetLabels()
		}
		return nil
	})
	return all, EachUntil(ctx, c, reads, func(ctx context.Context, _ int, read objectRead) error {
		_ = read(ctx) // what cannot be read has no labels here
		return context.Cause(ctx)
	})
}
