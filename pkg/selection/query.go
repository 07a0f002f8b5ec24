package selection

import (
	"context"
	"errors"
	"slices"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
)

// Query is a selection on a server.
type Query struct {
	Selection
	Client  *cluster.Client
	Catalog *cluster.Catalog
	// Namespace is the one of -n, where objects without a namespace of their own are.
	Namespace string
	// AllNamespaces says that -n does not count.
	AllNamespaces bool
	// Scope is the namespace that is listed; empty for everywhere.
	Scope string
	// Store, if not nil, is listed from where it has the scope.
	Store *cluster.Store
	// ByName says to read the objects that are named where their types may not be listed.
	ByName bool
	// Annotations are the keys of the annotations that the graph keeps.
	Annotations []string
	// Progress, if not nil, is called before each listing. Report is told how far it has come, from
	// several goroutines, one at a time; done, when it has ended.
	Progress func() (report func(cluster.Progress), done func())
}

// FindType finds the type that a word means, as the function does.
func (q *Query) FindType(word string) (cluster.Resource, error) {
	return FindType(q.Client, q.Catalog, word)
}

// Namespaces returns those in which objects are meant: none for cluster-scoped objects alone. An
// empty one among them is any.
func (q *Query) Namespaces() []string {
	var all []string
	for _, o := range q.Objects {
		if o.Namespaced {
			all = append(all, o.Namespace)
		}
	}
	if q.All() || slices.ContainsFunc(q.Types, func(t cluster.Resource) bool { return t.Namespaced }) {
		all = append(all, q.Namespace)
	}
	return all
}

// ListingScope is the namespace to list. A namespaced object's dependents can only be in its
// namespace; a cluster-scoped one's can be anywhere. Owners are in the same namespace or in none.
func (q *Query) ListingScope(owners bool) string {
	if q.AllNamespaces || q.ClusterScoped() && !owners {
		return ""
	}
	scope := q.Namespace
	for i, o := range q.Objects {
		if i > 0 && o.Namespaced && o.Namespace != scope {
			return ""
		}
		if o.Namespaced {
			scope = o.Namespace
		}
	}
	return scope
}

// List lists what is in scope; of the types only those given, if there are any.
func (q *Query) List(ctx context.Context, types ...cluster.Resource) (*Snapshot, error) {
	if q.Store != nil && q.Store.Options().Namespace == q.Scope && len(types) == 0 {
		if q.Progress != nil {
			report, done := q.Progress()
			defer done()
			q.Store.Report(report)
		}
		return ListStore(ctx, q.Client, q.Catalog, q.Store, nil)
	}
	opts := q.options()
	if len(types) > 0 {
		opts.Types = func(r cluster.Resource) bool {
			return slices.ContainsFunc(types, func(t cluster.Resource) bool { return t.Type == r.Type })
		}
	}
	if q.Progress != nil {
		report, done := q.Progress()
		defer done()
		opts.Progress = report
	}
	return build(ctx, q.Catalog, opts, func(b *graph.Builder) (*cluster.ListResult, bool, error) {
		listed, err := q.Client.List(ctx, q.Catalog, opts, b)
		if err == nil && q.ByName {
			q.readNamed(ctx, b, listed.Gaps)
		}
		return listed, false, err
	})
}

// readNamed adds the objects that are named and lie in gaps, as far as they can be read.
func (q *Query) readNamed(ctx context.Context, b *graph.Builder, gaps []v1alpha1.Gap) {
	for _, o := range q.Objects {
		if !slices.ContainsFunc(gaps, func(gap v1alpha1.Gap) bool {
			return gap.Reason == v1alpha1.GapForbidden && gap.Group == o.Group && gap.Resource == o.Resource.Resource &&
				(gap.Namespace == "" || gap.Namespace == o.Namespace)
		}) {
			continue
		}
		if now, err := q.Client.GetMeta(ctx, o.Type, o.Namespace, o.Name); err == nil {
			b.Listing(o.Type, o.Namespace).Add(*now)
		}
	}
}

func (q *Query) options() cluster.ListOptions {
	opts := cluster.ListOptions{Namespace: q.Scope, Selector: q.Selector, Annotations: q.Annotations}
	if q.Namespace != "" {
		opts.Fallback = []string{q.Namespace}
	}
	return opts
}

// NewStore returns a store for the scope. It is for the caller to close.
func (q *Query) NewStore(ctx context.Context, changed func(cluster.Change)) *cluster.Store {
	return q.Client.NewStore(ctx, q.options(), changed)
}

// Find returns the objects that are meant, of those listed. An object that was named and was not
// listed is an error, in the server's own words where it has any.
func (q *Query) Find(ctx context.Context, g *graph.Graph) ([]graph.ID, error) {
	var ids []graph.ID
	var missing []error
	for _, o := range q.Objects {
		id, ok := g.Find(o.Group, o.Resource.Resource, o.Namespace, o.Name)
		if !ok {
			missing = append(missing, q.ExplainMissing(ctx, g, o))
			continue
		}
		ids = append(ids, id)
	}
	if len(missing) > 0 {
		return nil, errors.Join(missing...)
	}
	if len(q.Objects) > 0 {
		return ids, nil
	}
	return q.Matching(g), nil
}

// Forest returns the roots of everything in scope. In one namespace, cluster-scoped objects are
// only of interest as owners of what is in it, or as its dependents.
func (q *Query) Forest(g *graph.Graph) ([]graph.ID, func(graph.ID) bool) {
	if q.Scope == "" {
		return g.Roots(), nil
	}
	related := g.Related(func(id graph.ID) bool { return g.Namespace(id) == q.Scope })
	shows := func(id graph.ID) bool { return related[id] }
	return Filter(g.Roots(), shows), shows
}

// Matching returns the objects of the types that match the selector, in the namespace unless it
// does not count.
func (q *Query) Matching(g *graph.Graph) []graph.ID {
	wanted := map[[2]string]bool{}
	for _, t := range q.Types {
		wanted[[2]string{t.Group, t.Resource}] = true
	}
	var ids []graph.ID
	for id := range g.IDs() {
		if !g.Observed(id) || q.Selector != nil && !g.Selected(id) {
			continue
		}
		ref := g.Ref(id)
		if len(wanted) > 0 && !wanted[[2]string{ref.Group(), ref.Resource}] {
			continue
		}
		if len(wanted) == 0 && q.Scope != "" && ref.Namespace != q.Scope {
			continue // without a type, -n means what is in it
		}
		if ref.Namespace != "" && !q.AllNamespaces && ref.Namespace != q.Namespace {
			continue // all namespaces are listed for what cluster-scoped types and owners need
		}
		ids = append(ids, id)
	}
	return ids
}

// Filter returns the objects that are to be kept.
func Filter(ids []graph.ID, keep func(graph.ID) bool) []graph.ID {
	var kept []graph.ID
	for _, id := range ids {
		if keep(id) {
			kept = append(kept, id)
		}
	}
	return kept
}

// NewQuery finds out what a request means on a server. It asks for nothing but discovery, and for
// the Secrets of Helm releases that are named; the scope is that of the dependents.
func NewQuery(ctx context.Context, config genericclioptions.RESTClientGetter, client *cluster.Client,
	catalog *cluster.Catalog, req Request) (*Query, error) {
	req, err := req.withReleases(ctx, client, catalog)
	if err != nil {
		return nil, err
	}
	meant, err := Resolve(ctx, FreshGetter(config, client), catalog, req)
	if err != nil {
		return nil, err
	}
	q := &Query{Selection: meant, Client: client, Catalog: catalog, Namespace: req.Namespace,
		AllNamespaces: req.AllNamespaces}
	q.Scope = q.ListingScope(false)
	return q, nil
}

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

// ListAfresh is List with discovery that is asked anew, which the reader that it returns has too.
func ListAfresh(ctx context.Context, client *cluster.Client, opts cluster.ListOptions) (*Snapshot, *cluster.Reader,
	error) {
	client = client.WithFreshDiscovery()
	catalog, err := client.Discover(ctx)
	if err != nil {
		return nil, nil, err
	}
	listed, err := List(ctx, client, catalog, opts)
	return listed, cluster.NewReader(client, catalog), err
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
