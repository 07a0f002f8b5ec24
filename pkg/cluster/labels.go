package cluster

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
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
	note := func(o *unstructured.Unstructured) {
		mu.Lock()
		defer mu.Unlock()
		if id, ok := wanted[string(o.GetUID())]; ok {
			all[id] = o.GetLabels()
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.concurrency)
	for _, r := range RequestObjects(g, ids) {
		if worthAList(len(r.Names), r.Total) {
			group.Go(func() error {
				if listed, err := c.ListObjectMetas(ctx, r.Type, r.Namespace, Selection{}); err == nil {
					for _, o := range listed {
						note(o)
					}
				}
				return context.Cause(ctx)
			})
			continue
		}
		for _, name := range r.Names {
			group.Go(func() error {
				if o, err := c.GetObjectMeta(ctx, r.Type, r.Namespace, name); err == nil {
					note(o)
				}
				return context.Cause(ctx)
			})
		}
	}
	return all, group.Wait()
}
