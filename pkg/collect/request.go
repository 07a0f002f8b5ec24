package collect

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Request says what a run may write to, how long it goes on, and who agrees to it. The zero Request
// is one run over the whole cluster.
type Request struct {
	// Namespace, Selector and Types restrict what is written to; each is empty for everything. They
	// do not restrict what counts as evidence. Types are globs, as selection.ParseTypeFilter reads
	// them.
	Namespace string
	Selector  labels.Selector
	Types     []string
	// Overrides, MaxDeletes and AllowOwnerLoss are those of Options.
	Overrides      plan.Overrides
	MaxDeletes     int
	AllowOwnerLoss bool
	// Wait goes on until nothing is left that somebody else has to release, for Timeout at most; a
	// Timeout of zero has no limit.
	Wait    bool
	Timeout time.Duration
	// Watch goes on until the context ends.
	Watch bool
	// Archive, if not nil, is written after the plan was agreed to and before the first write. What
	// is not in it, or was changed since, is left alone.
	Archive *Archive
	// Agree is asked about the first plan before the first write, and again about each plan with a
	// Growth. Any error ends the run; ErrOnlyAgreed leaves what is new. If it is nil, the first
	// plan counts as agreed to, and one that has grown ends the run with a *GrownError.
	Agree func(context.Context, *Proposal) error
	// OnEvent, if not nil, is called with every write that was tried, one call at a time. With
	// Watch a write to an object that fails as before is told once.
	OnEvent func(Event)
	// Paused and Warned are those of Options; Paused is called only with Watch.
	Paused func(error)
	Warned func(dependent graph.Ref, err error)
}

// options are those of the loop. Types are what may be written to; nil is everything.
func (r *Request) options(types func(graph.Ref) bool) Options {
	opts := Options{
		List:  cluster.ListOptions{Namespace: r.Namespace, Selector: r.Selector},
		Allow: r.allow(types), Overrides: r.Overrides, MaxDeletes: r.MaxDeletes, AllowOwnerLoss: r.AllowOwnerLoss,
		Warned: r.Warned,
	}
	if r.Namespace != "" {
		opts.List.Fallback = []string{r.Namespace}
	}
	if r.Watch {
		opts.Paused = r.Paused
	}
	return opts
}

// allow says what the loop may write to; nil allows all.
func (r *Request) allow(types func(graph.Ref) bool) func(*graph.Graph, graph.ID) bool {
	if r.Namespace == "" && r.Selector == nil && types == nil {
		return nil
	}
	return func(g *graph.Graph, id graph.ID) bool {
		ref := g.Ref(id)
		return (r.Namespace == "" || ref.Namespace == r.Namespace) && (r.Selector == nil || g.Selected(id)) &&
			(types == nil || types(ref))
	}
}
