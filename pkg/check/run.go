package check

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Options say what is checked besides references and namespaces.
type Options struct {
	// Known is what is known of finalizers; nil checks none.
	Known *finalizer.Registry
	// MaxFinalizers is for how many kinds of finalizers, each of one type, whoever removes them is
	// looked for at most, and for how many objects of each where it may be another for each; zero
	// means DefaultMaxFinalizers.
	MaxFinalizers int
	// Links are those that packs know: what stands above an object by one may have to be guarded.
	Links []*link.Definition
}

// DefaultMaxFinalizers is enough for clusters with many operators; a search reads workloads, pods
// and Leases, each once.
const DefaultMaxFinalizers = 100

// Run checks the objects that a query means: it lists what they and their owners are in, once, and
// reads live only what the listing does not show alive. What a command prints of it is escaped
// where it is printed. The error is for what every request would meet, or for an object that was
// named and is not there.
func Run(ctx context.Context, q *selection.Query, opts Options) (*v1alpha1.CheckReport, error) {
	q.Scope = q.ListingScope(true)
	listing, err := q.List(ctx)
	if err != nil {
		return nil, err
	}
	of, err := subjects(ctx, q, listing)
	if err != nil {
		return nil, err
	}
	c := &checker{client: q.Client, listing: listing, of: of}
	c.read = upwards(listing.Graph, of)
	owners, err := collect.ReadOwners(ctx, q.Client, listing, func(id graph.ID) bool { return c.read[id] })
	if err != nil {
		return nil, err
	}
	gone, err := c.goneNamespaces(ctx)
	if err != nil {
		return nil, err
	}
	found := Find(Input{
		Graph: listing.Graph, Gaps: listing.Gaps, Proven: owners.Proven, Instead: owners.Instead, GoneNamespaces: gone,
		Of:        func(id graph.ID) bool { return of[id] },
		Read:      func(id graph.ID) bool { return c.read[id] },
		Collected: collected(listing.Catalog),
	})
	if found.Findings, err = c.confirmed(ctx, found.Findings); err != nil {
		return nil, err
	}
	report := &v1alpha1.CheckReport{
		TypeMeta: v1alpha1.TypeMeta("CheckReport"), Objects: found.Objects, References: found.References,
		Findings: found.Findings,
		Gaps:     slices.Concat([]v1alpha1.Gap{}, listing.Gaps, owners.Unread, c.unread),
	}
	if opts.Known != nil {
		if err := c.finalizers(ctx, opts, report); err != nil {
			return nil, err
		}
	}
	if err := c.protections(ctx, q, opts.Links, report); err != nil {
		return nil, err
	}
	report.Complete = len(report.Gaps) == 0 && report.NotLookedAt == 0
	return report, nil
}

type checker struct {
	client  *cluster.Client
	listing *selection.Snapshot
	// of are the objects that are checked, and read those whose owners are read live: these and
	// what owns them.
	of, read []bool

	mu     sync.Mutex
	unread []v1alpha1.Gap
}

// subjects are the objects that are checked: those that are meant; and in a namespace also the
// cluster-scoped objects that name an owner in it.
func subjects(ctx context.Context, q *selection.Query, listing *selection.Snapshot) ([]bool, error) {
	g := listing.Graph
	ids, err := q.Find(ctx, g)
	if err == nil {
		err = q.Unlisted(g, listing.Gaps)
	}
	if err == nil {
		err = q.Nothing(ctx, listing)
	}
	if err != nil {
		return nil, err
	}
	of := make([]bool, g.Len())
	for _, id := range ids {
		of[id] = true
	}
	if q.All() && q.Scope != "" {
		for id := range g.InNamespace("") {
			for e := range g.Owners(id) {
				of[id] = of[id] || g.Observed(e.Owner) && g.Namespace(e.Owner) == q.Scope
			}
		}
	}
	return of, nil
}

// upwards marks objects and all that they say owns them.
func upwards(g *graph.Graph, of []bool) []bool {
	all := slices.Clone(of)
	var queue []graph.ID
	for i, is := range of {
		if is {
			queue = append(queue, graph.ID(i))
		}
	}
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for e := range g.Owners(id) {
			if !all[e.Owner] {
				all[e.Owner] = true
				queue = append(queue, e.Owner)
			}
		}
	}
	return all
}

// collected reports whether the collector watches a type (GC-001, GC-003).
func collected(catalog *cluster.Catalog) func(graph.Type) bool {
	return func(t graph.Type) bool {
		r, known := catalog.Lookup(t.GroupResource())
		return !known || r.Deletable()
	}
}

// goneNamespaces are the namespaces of the objects that live reads prove not to exist.
func (c *checker) goneNamespaces(ctx context.Context) (map[string]bool, error) {
	g := c.listing.Graph
	r, served := c.listing.Catalog.Lookup(cluster.Namespaces)
	if !served {
		return nil, nil
	}
	missing := map[string]bool{}
	last := "" // objects of a namespace stand together
	for i, is := range c.of {
		if !is || !g.Observed(graph.ID(i)) {
			continue
		}
		ns := g.Namespace(graph.ID(i))
		if ns == last {
			continue
		}
		last = ns
		if _, listed := g.Find(r.Group, r.Resource, "", ns); !listed {
			missing[ns] = true
		}
	}
	gone := map[string]bool{}
	return gone, cluster.EachUntil(ctx, c.client, slices.Collect(maps.Keys(missing)),
		func(ctx context.Context, _ int, ns string) error {
			_, err := c.client.GetMeta(ctx, r.Type, "", ns)
			c.mu.Lock()
			defer c.mu.Unlock()
			if cluster.IsAbsent(err, r.Type, ns) {
				gone[ns] = true
				return nil
			}
			return c.note(ctx, r.Type, "", err)
		})
}

// note keeps the gap that an error makes, of each type and namespace one, and returns an error that
// every request would meet. The lock is held.
func (c *checker) note(ctx context.Context, t graph.Type, namespace string, err error) error {
	if err == nil {
		return nil
	}
	gap, ok := cluster.GapOf(ctx, t, namespace, err)
	if !ok {
		return err
	}
	same := func(g v1alpha1.Gap) bool { return g.Hides(gap.Group, gap.Resource, gap.Namespace) }
	if !slices.ContainsFunc(c.unread, same) && !slices.ContainsFunc(c.listing.Gaps, same) {
		c.unread = append(c.unread, gap)
	}
	return nil
}

// Finding is the answer of a report, which the exit code tells: that something of the severity or
// worse was found, or that not everything could be checked.
func Finding(report *v1alpha1.CheckReport, least Severity) error {
	for _, f := range report.Findings {
		if Severity(f.Severity).AtLeast(least) {
			return answer.ErrFound
		}
	}
	if !report.Complete {
		return answer.Refuse(errors.New("incomplete: not everything could be checked"))
	}
	return nil
}
