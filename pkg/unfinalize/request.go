package unfinalize

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/suggest"
)

// Request says which finalizers of the objects of a query are to be removed, and what is
// overridden. The functions may be nil.
type Request struct {
	// Finalizers are the names of the finalizers. Without any, Choose says which are meant.
	Finalizers []string
	// AllStuck means everything of the types of the query, if it has any, in its namespace or in
	// the cluster, that is being deleted and has one of the finalizers. Tree means the object of
	// the query and everything below it that does, leaves first. Of what is found like this, and by
	// a selector, objects that are gone meanwhile are left out.
	AllStuck, Tree bool
	// Overrides are the refusals that are overridden.
	Overrides Overrides
	// DryRun sends the first write to each object with dryRun=All, so that what the server refuses
	// is refused in the plan.
	DryRun bool
	// Choose picks finalizers of a plan that has all of them. It is called once, if the objects
	// have any and none is named.
	Choose func(*Planned) (Choice, error)
	// OnGaps is told, before anything is read, what could not be listed in the search for the
	// objects.
	OnGaps func([]v1alpha1.Gap)
	// OnLeftAlone is told of an object that no longer matches the selector of the query.
	OnLeftAlone func(object graph.Ref, why error)
	// OnSecondLook is told that a namespace was found empty and is listed again after a while.
	OnSecondLook func(namespace string, wait time.Duration)
}

// Choice has the names of the finalizers to remove, by the uid of their object. An object with no
// names is deleted again if its deletion was left half done.
type Choice map[string][]string

// Add adds what a row of a plan is about.
func (c Choice) Add(r Row) {
	uid := r.Candidate.Ref.UID
	names := c[uid]
	if r.Assessment.Name != "" {
		names = append(names, r.Assessment.Name)
	}
	c[uid] = names // an object without finalizers is chosen too
}

// named are the names that are meant of an object if the request has any, and all that it has
// otherwise.
func (r Request) named(o *unstructured.Unstructured) []string {
	if len(r.Finalizers) > 0 {
		return r.Finalizers
	}
	return NamesOn(o)
}

// Finalizers are the names of the finalizers of the objects that a query names, sorted. What cannot
// be read has none.
func Finalizers(ctx context.Context, q *selection.Query) []string {
	var names []string
	for _, o := range q.Objects {
		whole, err := q.Client.GetObject(ctx, o.Type, o.Namespace, o.Name)
		if err != nil {
			continue
		}
		names = append(names, Request{}.named(whole)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// actorFinder finds out who removes finalizers, whether they are alive, and what of the objects keeps
// them from it, and by what it is known that the garbage collector does not run: actor.Finder does.
type actorFinder interface {
	Judge(ctx context.Context, o *unstructured.Unstructured, finalizer string) (actor.Actor, error)
	Stopped(ctx context.Context) ([]string, error)
}

// searches reports whether the objects are searched for, and not named.
func (r Request) searches(q *selection.Query) bool { return r.AllStuck || r.Tree || q.Selector != nil }

// targets finds out which objects are meant: in batches, of which each is to be done before the
// next.
func (r Request) targets(ctx context.Context, q *selection.Query) ([][]Target, []v1alpha1.Gap, error) {
	if !r.searches(q) {
		var targets []Target
		for _, o := range q.Objects {
			targets = append(targets, Target{Type: o.Type, Namespace: o.Namespace, Name: o.Name})
		}
		return [][]Target{targets}, nil, nil
	}
	listed, err := q.List(ctx, q.Types...)
	if err != nil {
		return nil, nil, err
	}
	if err := q.Unlisted(listed.Graph, listed.Gaps); err != nil {
		return nil, nil, err
	}
	if err := selection.NamespaceExists(ctx, q.Client, q.Catalog, listed.Graph, q.Scope); err != nil {
		return nil, nil, err
	}
	batches, err := r.pick(ctx, q, listed.Graph)
	if err != nil {
		return nil, nil, err
	}
	targets := make([][]Target, len(batches))
	for i, ids := range batches {
		for _, id := range ids {
			t, _ := listed.Graph.Type(id)
			ref := listed.Graph.Ref(id)
			targets[i] = append(targets[i], Target{Type: t, Namespace: ref.Namespace, Name: ref.Name, UID: ref.UID})
		}
	}
	return targets, listed.Gaps, nil
}

// pick returns those of the objects listed that are meant and may have one of the finalizers, or any
// if none is named.
func (r Request) pick(ctx context.Context, q *selection.Query, g *graph.Graph) ([][]graph.ID, error) {
	has := func(id graph.ID) bool {
		ref := g.Ref(id)
		// Of the spec of a namespace a listing shows nothing.
		return g.Observed(id) && (ref.Resource == "namespaces" && ref.Group() == "" ||
			slices.ContainsFunc(g.Finalizers(id), func(name string) bool {
				return len(r.Finalizers) == 0 || slices.Contains(r.Finalizers, name)
			}))
	}
	stuck := func(id graph.ID) bool { return has(id) && g.State(id) == graph.Deleting }
	switch {
	case r.Tree:
		roots, err := q.Find(ctx, g)
		if err != nil {
			return nil, err
		}
		var batches [][]graph.ID
		for _, batch := range LeavesFirst(g, roots[0], link.New(g).Dependents) {
			if batch = selection.Filter(batch, stuck); len(batch) > 0 {
				batches = append(batches, batch)
			}
		}
		return batches, nil
	case r.AllStuck:
		var ids []graph.ID
		for id := range g.IDs() {
			if stuck(id) && (q.AllNamespaces || g.Namespace(id) == q.Namespace) {
				ids = append(ids, id)
			}
		}
		return [][]graph.ID{ids}, nil
	}
	return [][]graph.ID{selection.Filter(q.Matching(g), has)}, nil
}

// assess assesses the targets. Of many that were found by listing, those that are gone or do not
// have the finalizer any more are left out.
func (r Request) assess(ctx context.Context, assessor *Assessor, q *selection.Query, targets [][]Target,
	names func(*unstructured.Unstructured) []string) ([][]*Candidate, error) {
	var all [][]*Candidate
	var failed []error
	for _, batch := range targets {
		candidates, errs := assessor.Candidates(ctx, batch, names)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var kept []*Candidate
		for i, c := range candidates {
			t := batch[i]
			switch err := errs[i]; {
			case err != nil && r.searches(q) && (errors.Is(err, change.ErrReplaced) || cluster.IsAbsent(err, t.Type, t.Name)):
			case err != nil:
				failed = append(failed, err)
			case !matches(q.Selector, c.Object):
				if r.OnLeftAlone != nil {
					r.OnLeftAlone(c.Ref, ErrNotSelected)
				}
			case !r.searches(q) || c.drop(NotThere):
				kept = append(kept, c)
			}
		}
		if len(kept) > 0 {
			all = append(all, kept)
		}
	}
	if len(failed) > 0 {
		return nil, errors.Join(failed...)
	}
	forgive(slices.Concat(all...))
	suggestNames(slices.Concat(all...))
	return all, nil
}

// forgive takes back that an object does not have a finalizer if it has another that was named, and
// if the name is no mistake: another object has it.
func forgive(candidates []*Candidate) {
	there := map[string]bool{}
	for _, c := range candidates {
		for _, v := range c.Assessments {
			there[v.Name] = there[v.Name] || v.Field != ""
		}
	}
	for _, c := range candidates {
		if slices.ContainsFunc(c.Assessments, func(v Assessment) bool { return v.Field != "" }) {
			c.Assessments = slices.DeleteFunc(c.Assessments, func(v Assessment) bool { return v.Field == "" && there[v.Name] })
		}
	}
}

// suggestNames adds the nearest of an object's finalizers to the refusal of a name that it does not
// have.
func suggestNames(candidates []*Candidate) {
	for _, c := range candidates {
		names := NamesOn(c.Object)
		for i := range c.Assessments {
			v := &c.Assessments[i]
			for j := range v.Refusals {
				if v.Refusals[j].Code == NotThere && v.Refusals[j].Hint == "" && len(names) > 0 {
					v.Refusals[j].Hint = suggest.DidYouMean(v.Name, slices.Clone(names))
				}
			}
		}
	}
}

// LeavesFirst returns an object and everything below it, in batches: each dependent is in an
// earlier batch than its owners, but where a cycle closes. Links are the dependents that no
// ownerReference records.
func LeavesFirst(g *graph.Graph, root graph.ID, links func(graph.ID) []graph.Link) [][]graph.ID {
	const busy = -1 // and the edge that closes a cycle makes nothing higher
	heights := map[graph.ID]int{}
	var batches [][]graph.ID
	var visit func(graph.ID) int
	visit = func(id graph.ID) int {
		if height, visited := heights[id]; visited {
			return height
		}
		heights[id] = busy
		height := 0
		for e := range g.Dependents(id) {
			height = max(height, visit(e.Dependent)+1)
		}
		for _, l := range links(id) {
			height = max(height, visit(l.Dependent)+1)
		}
		heights[id] = height
		for len(batches) <= height {
			batches = append(batches, nil)
		}
		batches[height] = append(batches[height], id)
		return height
	}
	visit(root)
	for i := range batches {
		slices.Sort(batches[i])
	}
	return slices.DeleteFunc(batches, func(b []graph.ID) bool { return len(b) == 0 })
}
