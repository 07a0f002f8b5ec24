package deletion

import (
	"context"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Unattended is a finalizer that a wait is about and that nobody removes as things are. Somebody
// may install who does so, or what they need, while it waits.
type Unattended struct {
	// Object is the first of those that have it, and More is how many others have.
	Object    graph.Ref
	More      int
	Finalizer string
	// Because says what was seen, as clauses.
	Because []string
}

// findUnattended finds out which finalizers of what is being deleted nobody removes: who does so
// was not found or is kept from it, or something that they need does not exist. It looks at one object
// for each finalizer and kind, and at no more than mostActors. Of what cannot be read nothing is
// said. The error is the end of ctx.
func findUnattended(ctx context.Context, reader *cluster.Reader, known *finalizer.Registry, p *plan.Plan) ([]Unattended,
	error) {
	if known == nil {
		return nil, nil
	}
	finder := actor.NewFinder(reader, known)
	classes, _ := finder.Classes(p.Graph, begun(p), mostActors, byWorkloads)
	all, _, err := actor.Survey(ctx, finder, p.Graph, classes, mostActors,
		func(ctx context.Context, c *actor.Class, o *unstructured.Unstructured, a actor.Actor) Unattended {
			return Unattended{Object: p.Graph.Ref(c.Objects[0]), More: len(c.Objects) - 1, Finalizer: c.Finalizer,
				Because: missingFor(ctx, finder, o, a)}
		})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(u Unattended) bool { return len(u.Because) == 0 })
	return all, context.Cause(ctx)
}

// missingFor says what is missing for an actor to remove its finalizer from an object; nothing if
// nothing is known to be.
func missingFor(ctx context.Context, finder *actor.Finder, o *unstructured.Unstructured, a actor.Actor) []string {
	obstacle, says := finder.Obstacle(ctx, o, a)
	if obstacle != v1alpha1.DependencyMissing {
		says = append(says, finder.Missing(ctx, o, a)...)
	}
	return says
}

// begun are those of what a plan deletes that are being deleted, with their finalizers of others.
func begun(p *plan.Plan) iter.Seq2[graph.ID, []string] {
	return func(yield func(graph.ID, []string) bool) {
		for _, id := range p.Deleted {
			if p.Graph.State(id) == graph.Deleting && !yield(id, plan.Foreign(p.Graph.Finalizers(id))) {
				return
			}
		}
	}
}
