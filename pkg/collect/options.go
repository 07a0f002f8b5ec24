package collect

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Options say what a Loop may do.
type Options struct {
	// List says what to list.
	List cluster.ListOptions
	// Allow reports whether an object may be written to; nil allows all. It is never asked what may
	// be taken as evidence. It is called by one goroutine at a time.
	Allow func(g *graph.Graph, id graph.ID) bool
	// Only are the uids of the objects that are acted on; nil are all. Their dependents are written
	// to only where an owner among these requires it. It takes the place of an agreement: Agree is
	// not asked.
	Only map[string]bool
	// Overrides are what to do more or less than upstream.
	Overrides plan.Overrides
	// GracePeriodSeconds, if not nil, goes with every delete; the collector's own carry none
	// (GC-056).
	GracePeriodSeconds *int64
	// Observe is how long to wait, before dependents are orphaned, for their owner's controller to
	// take notice of its deletion; zero does not wait.
	Observe time.Duration
	// MaxDeletes is how many objects may be deleted in all; zero allows any number. A pass that
	// plans to exceed it ends the run with a *MaxDeletesError before its first write.
	MaxDeletes int
	// AllowOwnerLoss has the loop delete although owners of a kind are gone all at once
	// (plan.OwnerLosses). Otherwise such a pass ends the run with a *OwnerLossError before its
	// first write.
	AllowOwnerLoss bool
	// Agree is asked before the first write of a pass that would do more than was agreed to
	// (Loop.Agreed). If it returns nil that is agreed to; with ErrOnlyAgreed the pass does what was
	// agreed to before; any other error ends the run. A nil Agree returns a *GrownError. What an
	// ordinary cascade brings about was in the first plan, and is no growth.
	Agree func(context.Context, *Proposal) error
	// Paused, if not nil, is called by Watch when it goes on although a pass was refused
	// (*OwnerLossError), or could not begin because the server did not answer; once for the same
	// reason. It is called with nil after the next pass that goes well. If it is nil, a pass that
	// is refused ends Watch.
	Paused func(error)
	// Settle is for how long Watch waits for further changes after each, but not longer than ten
	// times that in all: what is restored or deleted together is planned together. Zero means
	// DefaultSettle.
	Settle time.Duration
	// Retry is how long Watch waits before it asks a server again that has not answered: twice as
	// long after each failure up to RetryMost, each time less a random part. Zero means
	// DefaultRetry and DefaultRetryMost.
	Retry, RetryMost time.Duration
	// Rediscover is how long Watch goes by what discovery has answered, unless an event tells of
	// types that come or go. Zero means DefaultRediscover.
	Rediscover time.Duration
	// Waiting are the uids of objects that were deleted before the first listing began, so that it
	// shows all their dependents.
	Waiting []string
	// CRDs are the instances of CRDs that may be gone when their dependents are looked at.
	CRDs []CRD
	// Warned, if not nil, has the loop write the collector's Event about each reference to an owner
	// in another namespace, to objects that it may write to; it is called with the dependent
	// and what came of it.
	Warned func(dependent graph.Ref, err error)
	// Before, if not nil, is called before each write with the object and the version of it that
	// the write carries; from several goroutines. If it returns an error, that is the event's, and
	// nothing is written. A conflict has the object read again.
	Before func(ctx context.Context, object graph.Ref, version string) error
	// OnEvent is called with every write that was tried, one call at a time.
	OnEvent func(plan.Event)
}

// CRD is a CustomResourceDefinition whose instances were seen. When it is gone they are too: its
// own finalizer has seen to that. It is how the collector, which saw them go, collects the
// dependents of a type that is not served any more (GC-072, RO-024).
type CRD struct {
	Object    graph.Ref
	Type      graph.Type
	Instances map[string]bool // by uid
}

// CrossNamespaceRef reports whether an owner is alive in another namespace than the one that the
// reference is resolved in, so that nobody finds it there. A cluster-scoped dependent is in none
// (GC-022, GC-031).
func CrossNamespaceRef(g *graph.Graph, e graph.Edge) bool {
	if !g.Observed(e.Owner) {
		return false
	}
	owner := g.Namespace(e.Owner)
	return owner != "" && owner != g.Namespace(e.Dependent)
}

// warn writes the Events of GC-031, one for each cross-namespace reference in the life of the loop,
// and hands on what came of each.
func (p *pass) warn(ctx context.Context) {
	told := p.loop.opts.Warned
	if told == nil {
		return
	}
	for id := range p.graph.IDs() {
		if p.projection.Gone(id) || !p.allows(id) {
			continue
		}
		for e := range p.graph.Owners(id) {
			if key := [2]string{p.graph.Ref(id).UID, p.graph.Ref(e.Owner).UID}; CrossNamespaceRef(p.graph, e) &&
				!p.loop.warned[key] && ctx.Err() == nil {
				p.loop.warned[key] = true
				told(p.graph.Ref(id), p.client.Warn(ctx, invalidNamespace(p.graph, e)))
			}
		}
	}
}

// invalidNamespace is what the collector says of a cross-namespace reference, word for word
// (GC-031).
func invalidNamespace(g *graph.Graph, e graph.Edge) cluster.Warning {
	dependent := g.Ref(e.Dependent)
	return cluster.Warning{
		Object: dependent, ResourceVersion: g.ResourceVersion(e.Dependent),
		Reason: "OwnerRefInvalidNamespace",
		Message: fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
			e.APIVersion, e.Kind, dependent.Namespace, e.Name, g.Ref(e.Owner).UID, dependent.Namespace),
		Component: "garbage-collector-controller", Reporter: "kubectl-gc",
	}
}

// Errors are what the writes among some events met.
func Errors(events []plan.Event) []error {
	var errs []error
	for _, e := range events {
		if e.Err != nil {
			errs = append(errs, Failure(e))
		}
	}
	return errs
}

// Failure is the error of an event, which names the write.
func Failure(e plan.Event) error {
	return fmt.Errorf("%s %s %q: %w", e.Action.Verb, e.Action.Object.Resource, e.Action.Object.Name, e.Err)
}

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
	OnEvent func(plan.Event)
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
