package selection

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
)

// Snapshot is one listing of a cluster, as a graph.
type Snapshot struct {
	Graph   *graph.Graph
	Catalog *cluster.Catalog
	// Gaps are what could not be listed, sorted.
	Gaps []v1alpha1.Gap
	// ResumePoints are where the complete lists ended, and a watch begins.
	ResumePoints []cluster.ResumePoint
	// Options are those that it was listed with.
	Options cluster.ListOptions
	// Part says that the graph has only what a store holds around some objects; see
	// cluster.Store.List.
	Part bool
}

// List lists a cluster and builds its graph. It is the only way from a server to a graph that
// commands have: what could not be listed is a gap, and an error ends it only if every request
// would meet it. It ends with ctx.
func List(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, opts cluster.ListOptions) (*Snapshot,
	error) {
	return build(ctx, catalog, opts, func(b *graph.Builder) (*cluster.ListResult, bool, error) {
		listed, err := client.List(ctx, catalog, opts, b)
		return listed, false, err
	})
}

// ListStore is List from a store, which sends requests only for what it does not hold yet. With
// uids it is of the objects around these only, unless types have joined or left; nil is all.
func ListStore(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, store *cluster.Store,
	around []string) (*Snapshot, error) {
	return build(ctx, catalog, store.Options(), func(b *graph.Builder) (*cluster.ListResult, bool, error) {
		return store.List(ctx, client, catalog, b, around)
	})
}

func build(ctx context.Context, catalog *cluster.Catalog, opts cluster.ListOptions,
	list func(*graph.Builder) (*cluster.ListResult, bool, error)) (*Snapshot, error) {
	builder := graph.NewBuilder()
	listed, part, err := list(builder)
	if err != nil {
		return nil, err
	}
	// Building the graph of a large cluster takes long, and knows no context.
	g, err := interrupt.Do(ctx, func() (*graph.Graph, error) { return builder.Build(), nil })
	if err != nil {
		return nil, err
	}
	return &Snapshot{Graph: g, Catalog: catalog, Gaps: listed.Gaps, ResumePoints: listed.ResumePoints, Options: opts,
		Part: part}, nil
}

// NamespaceExists is the server's error if it says that a namespace does not exist, and nothing was
// seen of it in a graph: objects can be left in one that is gone (NS-015). Without a name it is nil.
func NamespaceExists(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, g *graph.Graph,
	name string) error {
	r, ok := catalog.Lookup(cluster.Namespaces)
	if _, listed := g.Find(r.Group, r.Resource, "", name); name == "" || !ok || listed {
		return nil
	}
	for range g.InNamespace(name) {
		return nil
	}
	if _, err := client.GetMeta(ctx, r.Type, "", name); cluster.IsAbsent(err, r.Type, name) {
		return err
	}
	return nil
}
