package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// replanner plans again, from a new listing, what was changed between the plan and the delete. A plan that has grown needs a new yes.
type replanner struct {
	f       *deleteFlags
	client  *cluster.Client
	catalog *cluster.Catalog
	d       *deletion
	teller  *teller
	agreed  []*plan.Plan
	planned []*plannedDeletion // that were agreed to
	last    *plannedDeletion
}

func newReplanner(f *deleteFlags, client *cluster.Client, catalog *cluster.Catalog, d *deletion, p *plannedDeletion, t *teller) *replanner {
	return &replanner{f: f, client: client, catalog: catalog, d: d, teller: t, agreed: []*plan.Plan{p.Plan.Plan}, planned: []*plannedDeletion{p}, last: p}
}

// replan is act's Replan.
func (r *replanner) replan(ctx context.Context, roots []graph.Ref) (act.Replanned, error) {
	r.teller.done()
	next, err := r.plan(ctx, roots)
	if err != nil {
		return act.Replanned{}, err
	}
	what := changed(roots)
	if len(next.Gaps) > 0 && !r.f.allowIncomplete {
		warnGaps(r.f.ErrOut, next.gaps)
		return act.Replanned{}, refusal{withHint(fmt.Errorf("%s and not deleted: dependents may be hidden in what could not be listed when it was planned again", what),
			"--allow-incomplete deletes all the same")}
	}
	if len(next.Forbidden) > 0 {
		return act.Replanned{}, refusal{fmt.Errorf("%s and not deleted: %s", what, strings.Join(next.Denials(), "; "))}
	}
	if saved := r.planned[0].saved; saved != nil {
		if missing := saved.Missing(next.Plan.Plan); len(missing) > 0 {
			return act.Replanned{}, refusal{withHint(fmt.Errorf("%s and not deleted: the new plan writes to what is not in the archive: %s", what, enumerate(names(next.Graph, missing))), hintArchive)}
		}
	}
	growth := next.Beyond(r.agreed...)
	if growth.None() {
		fmt.Fprintf(r.f.ErrOut, "Warning: %s; it was planned again, and nothing more goes with it\n", what)
	} else if err := r.agree(ctx, next, what, added(next.Graph, growth)); err != nil {
		return act.Replanned{}, err
	}
	r.agreed, r.planned, r.last = append(r.agreed, next.Plan.Plan), append(r.planned, next), next
	return act.Replanned{Plan: next.Plan.Plan, Positions: next.positions, LeftOut: next.reasons()}, nil
}

// plan plans the deletion of the objects with those uids that are still there.
func (r *replanner) plan(ctx context.Context, roots []graph.Ref) (*plannedDeletion, error) {
	var objects []object
	for _, ref := range roots {
		t, known := r.catalog.Lookup(schema.GroupResource{Group: ref.Group(), Resource: ref.Resource})
		if !known {
			return nil, fmt.Errorf("deleting %s %q: discovery does not show its type", ref.Resource, ref.Name)
		}
		objects = append(objects, object{Resource: t, namespace: ref.Namespace, name: ref.Name, uid: ref.UID})
	}
	next, err := interruptible(ctx, func() (*plannedDeletion, error) { return r.f.plan(ctx, r.client, r.catalog, r.d, objects) })
	if err != nil {
		return nil, fmt.Errorf("planning again: %w", err)
	}
	var errs []error
	for _, err := range next.missing {
		if !apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
	}
	return next, errors.Join(errs...)
}

// agree shows a plan that has grown and asks, or refuses it where there is nobody to ask.
func (r *replanner) agree(ctx context.Context, next *plannedDeletion, what, more string) error {
	if r.planned[0].saved != nil {
		return refusal{withHint(fmt.Errorf("%s and not deleted, because more would go or hold than was planned, and than is in the archive: %s", what, more),
			hintArchive)}
	}
	if !r.f.canAsk() {
		return refusal{withHint(fmt.Errorf("%s and not deleted, because more would go or hold than was planned: %s", what, more),
			"run the command again for a new plan")}
	}
	fmt.Fprintf(r.f.ErrOut, "Warning: %s, and more goes or holds now: %s\n", what, more)
	if err := r.f.show(next); err != nil {
		return err
	}
	if err := r.f.ask(ctx); !errors.Is(err, errCancelled) {
		return err
	} else if err != nil {
		return refusal{fmt.Errorf("%s and not deleted: the new plan was not agreed to", what)}
	}
	return nil
}

// changed names what was changed.
func changed(roots []graph.Ref) string {
	if len(roots) == 1 {
		return withNamespace(roots[0], " in ") + " was changed since the plan was made"
	}
	var names []string
	for _, ref := range roots {
		names = append(names, shortName(ref))
	}
	return enumerate(names) + " were changed since the plan was made, or own what was"
}

// added words what a plan has grown by.
func added(g *graph.Graph, growth plan.Growth) string {
	var parts []string
	if len(growth.Deleted) > 0 {
		parts = append(parts, "deletes "+enumerate(names(g, growth.Deleted)))
	}
	for i, b := range growth.Held {
		if i == mostLeft {
			parts = append(parts, fmt.Sprintf("%d more are held", len(growth.Held)-mostLeft))
			break
		}
		parts = append(parts, fmt.Sprintf("%s is held by %s", shortName(g.Ref(b.Object)), render.Escape(strings.Join(b.Finalizers, ", "))))
	}
	var stuck []graph.ID
	for _, s := range growth.Stuck {
		stuck = append(stuck, s.Object)
	}
	if len(stuck) > 0 {
		parts = append(parts, enumerate(names(g, stuck))+" never ends")
	}
	return strings.Join(parts, "; ")
}

func names(g *graph.Graph, ids []graph.ID) []string {
	var names []string
	for _, id := range ids {
		names = append(names, shortName(g.Ref(id)))
	}
	return names
}
