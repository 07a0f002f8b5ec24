package deletion

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Change is why a deletion was planned again, and what the new plan does beyond those that were
// agreed to.
type Change struct {
	// Roots are the objects that were changed since the plan was made, or that own what was.
	Roots []graph.Ref
	// Growth has the IDs of the new plan's graph.
	Growth plan.Growth

	graph *graph.Graph
}

// What names what was changed.
func (c *Change) What() string {
	switch len(c.Roots) {
	case 0: // between the stages of an ordered deletion
		return "objects were created or changed since the plan was made"
	case 1:
		return c.Roots[0].Quoted() + " was changed since the plan was made"
	}
	return firstFew(c.Roots) + ", or their dependents, were changed since the plan was made"
}

// More words what the plan has grown by.
func (c *Change) More() string {
	var parts []string
	if len(c.Growth.Deleted) > 0 {
		parts = append(parts, "deletes "+firstFew(refs(c.graph, c.Growth.Deleted)))
	}
	for i, b := range c.Growth.Blockers {
		if i == phrase.MaxNamed {
			parts = append(parts, fmt.Sprintf("%d more have finalizers", len(c.Growth.Blockers)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s has finalizer %s", firstFew([]graph.Ref{c.graph.Ref(b.Object)}),
			strings.Join(b.Finalizers, ", ")))
	}
	var stuck []graph.ID
	for _, s := range c.Growth.Deadlocked {
		stuck = append(stuck, s.Object)
	}
	if len(stuck) > 0 {
		parts = append(parts, "the deletion of "+firstFew(refs(c.graph, stuck))+" cannot complete")
	}
	return strings.Join(parts, "; ")
}

// firstFew names some of the objects in an error. The line breaks of an error are printed, those of
// a name must not be.
func firstFew(refs []graph.Ref) string {
	names := make([]string, len(refs))
	for i, r := range refs {
		names[i] = r.KindName()
	}
	return strings.ReplaceAll(phrase.SortedFew(names), "\n", `\n`)
}

// refs are the objects of a graph by their IDs.
func refs(g *graph.Graph, ids []graph.ID) []graph.Ref {
	refs := make([]graph.Ref, len(ids))
	for i, id := range ids {
		refs[i] = g.Ref(id)
	}
	return refs
}

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
		if err != nil || time.Now().After(end) || !slices.ContainsFunc(types, func(t schema.GroupResource) bool {
			_, shown := catalog.Lookup(t)
			return shown
		}) {
			return client, catalog, err
		}
		select {
		case <-time.After(discoverEvery):
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}
