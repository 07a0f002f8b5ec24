package unfinalize

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// survey is what can be listed where the dependents of an owner can be.
type survey struct {
	*selection.Snapshot
	reader *cluster.Reader // with the discovery of the listing
}

// survey lists a namespace, or everything if namespace is empty; once for all that ask. What may
// not be listed everywhere is listed in the fallback.
func (j *Assessor) survey(ctx context.Context, namespace string, fallback ...string) (*survey, error) {
	return once(j, j.surveys, namespace, func() (*survey, error) {
		opts := cluster.ListOptions{Namespace: namespace, Fallback: fallback}
		return list(ctx, j.client, opts)
	})()
}

// once remembers what somebody has found out about a name.
func once[T any](j *Assessor, known map[string]func() (T, error), name string, find func() (T, error)) func() (T,
	error) {
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
	client = client.WithFreshDiscovery()
	catalog, err := client.Discover(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := selection.List(ctx, client, catalog, opts)
	if err != nil {
		return nil, err
	}
	return &survey{listed, cluster.NewReader(client, catalog)}, nil
}

// provenEmpty lists a namespace and, if nothing was found, once more a while later (NS-022).
func (j *Assessor) provenEmpty(ctx context.Context, namespace string) (*Emptiness, error) {
	return once(j, j.empty, namespace, func() (*Emptiness, error) {
		first, err := content(ctx, j.client, namespace)
		if err != nil || !first.Proven() {
			return first, err
		}
		if j.OnSecondLook != nil {
			j.OnSecondLook(namespace, j.apart)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(j.apart):
		}
		return content(ctx, j.client, namespace)
	})()
}

// content lists everything in a namespace: objects of every namespaced type that can be listed,
// whether or not anybody could delete them.
func content(ctx context.Context, client *cluster.Client, namespace string) (*Emptiness, error) {
	s, err := list(ctx, client, cluster.ListOptions{Namespace: namespace, Types: listable})
	if err != nil {
		return nil, err
	}
	e := &Emptiness{Gaps: s.Gaps}
	for i := range s.Graph.Len() {
		if id := graph.ID(i); s.Graph.Observed(id) && s.Graph.Namespace(id) == namespace {
			e.Remaining = append(e.Remaining, s.Graph.Ref(id))
		}
	}
	return e, nil
}

func listable(r cluster.Resource) bool { return r.Namespaced && slices.Contains(r.Verbs, "list") }
