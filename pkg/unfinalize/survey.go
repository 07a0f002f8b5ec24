package unfinalize

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// survey is what can be listed where the dependents of an owner can be.
type survey struct {
	graph  *graph.Graph
	gaps   []v1alpha1.Gap
	reader *cluster.Reader // with the discovery of the listing
}

// survey lists a namespace, or everything if namespace is empty; once for all that ask. What may not be listed everywhere is listed in the fallback.
func (j *Judge) survey(ctx context.Context, namespace string, fallback ...string) (*survey, error) {
	return once(j, j.surveys, namespace, func() (*survey, error) {
		opts := cluster.ListOptions{Namespace: namespace, Fallback: fallback}
		return list(ctx, j.client, opts)
	})()
}

// once remembers what somebody has found out about a name.
func once[T any](j *Judge, known map[string]func() (T, error), name string, find func() (T, error)) func() (T, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f, asked := known[name]
	if !asked {
		f = sync.OnceValues(find)
		known[name] = f
	}
	return f
}

// list lists with discovery that is asked anew.
func list(ctx context.Context, client *cluster.Client, opts cluster.ListOptions) (*survey, error) {
	client = client.Anew()
	catalog, err := client.Discover()
	if err != nil {
		return nil, err
	}
	builder := graph.NewBuilder()
	listed, err := client.List(ctx, catalog, opts, builder)
	if err != nil {
		return nil, err
	}
	return &survey{builder.Build(), listed.Gaps, cluster.NewReader(client, catalog)}, nil
}

// provenEmpty lists a namespace and, if nothing was found, once more a while later (NS-022).
func (j *Judge) provenEmpty(ctx context.Context, namespace string) (*Emptiness, error) {
	return once(j, j.empty, namespace, func() (*Emptiness, error) {
		first, err := content(ctx, j.client, namespace)
		if err != nil || !first.Proven() {
			return first, err
		}
		if j.Proving != nil {
			j.Proving(namespace, j.apart)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(j.apart):
		}
		return content(ctx, j.client, namespace)
	})()
}

// content lists everything in a namespace: objects of every namespaced type that can be listed, whether or not anybody could delete them.
func content(ctx context.Context, client *cluster.Client, namespace string) (*Emptiness, error) {
	s, err := list(ctx, client, cluster.ListOptions{Namespace: namespace, Types: listable})
	if err != nil {
		return nil, err
	}
	e := &Emptiness{Gaps: s.gaps}
	for i := range s.graph.Len() {
		if id := graph.ID(i); s.graph.Seen(id) && s.graph.Ref(id).Namespace == namespace {
			e.Left = append(e.Left, s.graph.Ref(id))
		}
	}
	return e, nil
}

func listable(r cluster.Resource) bool { return r.Namespaced && slices.Contains(r.Verbs, "list") }
