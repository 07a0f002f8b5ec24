package deletion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// replanner plans again, from a new listing, what was changed between the plan and the delete. A
// plan that has grown needs a new yes.
type replanner struct {
	*planner
	opts   Options
	saved  *archive.Saved // nil without an archive
	agreed []*Planned
}

func (r *replanner) last() *Planned { return r.agreed[len(r.agreed)-1] }

// replan is act's Replan.
func (r *replanner) replan(ctx context.Context, roots []graph.Ref) (act.Replanned, error) {
	next, err := r.planAgain(ctx, roots)
	if err != nil {
		return act.Replanned{}, err
	}
	change := &Change{Roots: roots, Growth: next.Beyond(r.plans()...), graph: next.Graph}
	err = r.refused(next, change)
	switch {
	case err == nil && !change.Growth.None():
		err = r.agree(ctx, next, change)
	case r.opts.OnReplan != nil:
		r.opts.OnReplan(next, change, err)
	}
	if err != nil {
		return act.Replanned{}, err
	}
	r.agreed = append(r.agreed, next)
	next.count()
	return act.Replanned{Plan: next.Plan, ResumePoints: next.Snapshot.ResumePoints, LeftOut: next.reasons()}, nil
}

func (r *replanner) plans() []*plan.Plan {
	plans := make([]*plan.Plan, len(r.agreed))
	for i, p := range r.agreed {
		plans[i] = p.Plan
	}
	return plans
}

// planAgain plans the deletion of the objects with those uids that are still there.
func (r *replanner) planAgain(ctx context.Context, roots []graph.Ref) (*Planned, error) {
	var objects []selection.Object
	for _, ref := range roots {
		t, known := r.catalog.Lookup(ref.GroupResource())
		if !known {
			return nil, fmt.Errorf("deleting %s %q: discovery does not show its type", ref.Resource, ref.Name)
		}
		objects = append(objects, selection.Object{Resource: t, Namespace: ref.Namespace, Name: ref.Name, UID: ref.UID})
	}
	next, err := r.plan(ctx, objects)
	if err != nil {
		return nil, fmt.Errorf("planning again: %w", err)
	}
	var errs []error
	for _, err := range next.Missing {
		if !apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
	}
	return next, errors.Join(errs...)
}

// refused returns why a new plan must not be performed, whoever agrees to it.
func (r *replanner) refused(next *Planned, change *Change) error {
	switch {
	case next.incomplete():
		return answer.Refuse(
			answer.WithHint(
				fmt.Errorf("%s; not deleted because types that may contain dependents could not be listed for the new plan",
					change.What()),
				"--allow-incomplete deletes anyway"))
	case len(next.Forbidden) > 0:
		return answer.Refuse(fmt.Errorf("%s; not deleted: %s", change.What(), strings.Join(next.Denials(), "; ")))
	}
	if err := next.tooMany(change.What() + "; not deleted"); err != nil || r.saved == nil {
		return err
	}
	if missing := r.saved.Missing(next.Plan); len(missing) > 0 {
		return answer.Refuse(
			answer.WithHint(fmt.Errorf("%s; not deleted because the new plan writes to objects that are not in the archive: %s",
				change.What(), firstFew(next.Graph.Refs(missing))), hintArchive))
	}
	if !change.Growth.None() {
		return answer.Refuse(
			answer.WithHint(fmt.Errorf("%s; not deleted because the new plan does more than the archived one: %s", change.What(),
				change.More()),
				hintArchive))
	}
	return nil
}

// ErrNobodyToAsk is what Agree returns where nobody can be asked.
var ErrNobodyToAsk = errors.New("there is nobody to ask")

// agree asks about a plan that has grown, or refuses it where there is nobody to ask.
func (r *replanner) agree(ctx context.Context, next *Planned, change *Change) error {
	err := ErrNobodyToAsk
	if r.opts.Agree != nil {
		err = r.opts.Agree(ctx, next, change)
	}
	switch {
	case errors.Is(err, ErrNobodyToAsk):
		return answer.Refuse(answer.WithHint(fmt.Errorf("%s; not deleted because the new plan does more: %s", change.What(),
			change.More()),
			"run the command again to see the new plan"))
	case errors.Is(err, answer.ErrCancelled):
		return answer.Refuse(fmt.Errorf("%s; not deleted because the new plan was declined", change.What()))
	}
	return err
}

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
		parts = append(parts, "deletes "+firstFew(c.graph.Refs(c.Growth.Deleted)))
	}
	for i, b := range c.Growth.Blockers {
		if i == phrase.MaxNamed {
			parts = append(parts, fmt.Sprintf("%d more have finalizers", len(c.Growth.Blockers)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s has finalizer %s", firstFew([]graph.Ref{c.graph.Ref(b.Object)}),
			strings.Join(b.Finalizers, ", ")))
	}
	if stuck := c.Growth.Deadlocked; len(stuck) > 0 {
		parts = append(parts, "the deletion of "+fewOf(stuck, func(s plan.ObjectReason) graph.Ref { return c.graph.Ref(s.Object) })+
			" cannot complete")
	}
	return strings.Join(parts, "; ")
}

// fewOf names some of the objects that a list is about.
func fewOf[T any](list []T, object func(T) graph.Ref) string {
	refs := make([]graph.Ref, len(list))
	for i, item := range list {
		refs[i] = object(item)
	}
	return firstFew(refs)
}

// firstFew names some of the objects in an error. The line breaks of an error are printed, those of
// a name must not be.
func firstFew(refs []graph.Ref) string {
	return strings.ReplaceAll(phrase.SortedFew(phrase.Words(refs, graph.Ref.KindName)), "\n", `\n`)
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
