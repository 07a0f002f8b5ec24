package cluster

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// namespaceList is the namespaces of the cluster, read once and only if some type needs them.
type namespaceList struct {
	once  sync.Once
	names []string
	// complete is false when the namespaces could not be listed and names are those that the user
	// gave.
	complete bool
	err      error
}

// byNamespace lists a type that may not be listed everywhere namespace by namespace. Each namespace
// that is forbidden is a gap, and so is all the rest if the namespaces themselves could not be
// listed.
func (l *lister) byNamespace(ctx context.Context, r Resource, forbidden error) error {
	n := &l.namespaces
	n.once.Do(func() { l.readNamespaces(ctx, n) })
	if n.err != nil {
		return n.err
	}
	if !n.complete {
		if err := l.note(ctx, r.Type, "", forbidden); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, l.client.concurrency/4)) // several types come here side by side
	for _, namespace := range n.names {
		group.Go(func() error {
			return l.note(ctx, r.Type, namespace, l.once(ctx, r, namespace))
		})
	}
	return group.Wait()
}

func (l *lister) readNamespaces(ctx context.Context, n *namespaceList) {
	if l.store != nil {
		if names, held := l.store.names("", "namespaces"); held {
			n.names, n.complete = names, true
			return
		}
	}
	names, err := l.client.ListNames(ctx, NamespaceType, "")
	if err == nil {
		n.names, n.complete = names, true
		return
	}
	if _, fatal := newGap(ctx, graph.Type{}, "", err); fatal != nil {
		n.err = fatal
		return
	}
	n.names = l.opts.Fallback
}

// ListNames lists the names of a type's objects, in a namespace or everywhere.
func (c *Client) ListNames(ctx context.Context, t graph.Type, namespace string) ([]string, error) {
	var names []string
	_, err := c.ForEachMeta(ctx, t, namespace, func(o *graph.Object) { names = append(names, o.Name) })
	return names, err
}

// ForEachMeta calls f with the metadata of each object of a type, in a namespace or everywhere,
// valid during the call. It returns where the list ended.
func (c *Client) ForEachMeta(ctx context.Context, t graph.Type, namespace string, f func(*graph.Object)) (ResumePoint,
	error) {
	return c.forEach(ctx, t, namespace, extras{}, f)
}

func (c *Client) forEach(ctx context.Context, t graph.Type, namespace string, keep extras,
	f func(*graph.Object)) (ResumePoint, error) {
	version, err := c.readAll(ctx,
		page{path: resourcePath(t, namespace), keep: keep}, f)
	if err != nil {
		version = ""
	}
	return ResumePoint{Type: t, Namespace: namespace, ResourceVersion: version}, err
}
