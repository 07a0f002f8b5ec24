package deletion

import (
	"context"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// GC says who does the garbage collector's part of a deletion.
type GC string

// Who does the garbage collector's part.
const (
	// ClusterGC is the collector of kube-controller-manager. It is the default.
	ClusterGC GC = "cluster"
	// ClientGC is Perform, for a cluster whose collector does not run. It writes to nothing that is
	// not in a plan that was agreed to.
	ClientGC GC = "client"
)

// Request is a deletion as it was asked for.
type Request struct {
	// Selection says which objects are to be deleted.
	Selection selection.Request
	// IgnoreNotFound makes it no error that an object is not there.
	IgnoreNotFound bool
	// Policy is the propagation policy of the deletes.
	Policy plan.Policy
	// GracePeriodSeconds, if not nil, goes with the deletes of the selected objects, and with
	// PropagateGracePeriod with those of their dependents.
	GracePeriodSeconds   *int64
	PropagateGracePeriod bool
	// Strict sets blockOwnerDeletion on the references of all dependents first, so that a
	// foreground deletion waits for them.
	Strict bool
	// GC says who does the collector's part; empty is ClusterGC.
	GC GC
	// AllowIncomplete deletes even if a type could not be listed that may contain dependents.
	AllowIncomplete bool
	// AskServer asks the server whether it refuses what others delete, where a policy or a webhook
	// may.
	AskServer bool
	// AllowStuck deletes even if the deletion would not complete, because it takes away who removes
	// the finalizers that it waits for, or because the server refuses what others delete.
	AllowStuck bool
	// MaxDeletes is how many objects may be deleted in all, by whomever; zero allows any number.
	MaxDeletes int
	// Known returns what is known of finalizers and links; nil means that nothing is known.
	Known func() (*finalizer.Registry, error)
	// Ordered deletes in stages, each of which begins when all is gone that the one before deletes:
	// custom resources and what waits for an actor first. An object that does not exist any more
	// was deleted by an earlier call.
	Ordered bool
	// Pruner is the program that is to delete the objects: what it leaves is not deleted. Nil for
	// nobody in particular.
	Pruner *link.Pruner
	// Progress, if not nil, is called before each listing, as that of a selection.Query.
	Progress func() (report func(cluster.Progress), done func())
}

// writers are those whose part of a plan Perform does.
func (r Request) writers() []plan.By {
	if r.GC == ClientGC {
		return []plan.By{plan.ByClient, plan.ByCollector}
	}
	return []plan.By{plan.ByClient}
}

// planOptions say by whose rules the collector's part is done.
func (r Request) planOptions(links *link.Links, gaps []v1alpha1.Gap) plan.Options {
	opts := plan.Options{Links: links, Strict: r.Strict}
	if r.GC == ClientGC {
		opts.Rules, opts.Gaps = plan.Loop, gaps
	}
	return opts
}

// Options say how to perform a plan. Each of the functions may be nil. They are called one at a
// time, but for those of ClientGC.
type Options struct {
	// Agree is asked about the plan, without a change, before anything is written. It is asked
	// again about a plan that was made anew and goes beyond those that were agreed to. An error
	// leaves everything alone that the plan is about; ErrNobodyToAsk and answer.ErrCancelled are
	// worded. Without it the plan is agreed to, and nothing beyond it.
	Agree func(ctx context.Context, p *Planned, change *Change) error
	// Asks says that Agree asks a person, and tells that person what Planned.WouldBeStuck says.
	// Otherwise a plan that ends so is refused, unless the request allows it.
	Asks bool
	// Archive, if not nil, is written before the first delete.
	Archive *Archive
	// Wait for the whole cascade, for as long as Timeout; 0 is for ever.
	Wait    bool
	Timeout time.Duration
	// until is when the Timeout ends; zero for Timeout after the first delete.
	until time.Time
	// StageTimeout is how long each stage of an ordered deletion may take; 0 is for ever. OnStage
	// is called before each, with which of how many it is and its plan; it may be nil.
	StageTimeout time.Duration
	OnStage      func(n, of int, stage *Planned)
	// OnStart is called right before the first write.
	OnStart func()
	// OnEvent is called with what happens to objects, and OnTick every second with what is left.
	OnEvent func(act.Event)
	OnTick  func(act.Progress)
	// OnWrite is called with each write that was tried, with the error if it was not carried out, and
	// OnCollect besides with each of ClientGC. Those of ClientGC come from any goroutine.
	OnWrite   func(v1alpha1.Action, error)
	OnCollect func(plan.Event)
	// OnReplan is called when something was planned again and Agree is not asked: because nothing
	// goes beyond what was agreed to, or because it is refused.
	OnReplan func(p *Planned, change *Change, refused error)
	// Words are the words of errors.
	Words Words
}

// Words say in errors why objects are still there. Without them the errors name objects only.
type Words struct {
	// Remaining says of objects that were waited for what each waits for.
	Remaining func([]act.Blocked) string
}

// Source returns the file, URL or kustomization that names one of some objects, or what that is
// deleted because of; otherwise the one of the first object that is to be deleted. It is empty if
// no file names objects.
func (p *Planned) Source(of []graph.Ref) string {
	if len(p.sources) == 0 {
		return ""
	}
	because := map[graph.ID]plan.Reason{}
	for _, a := range p.Actions {
		because[a.Object] = a.Because
	}
	for _, ref := range slices.Concat(of, p.Graph.Refs(p.named)) {
		id, known := p.Graph.Lookup(ref.UID)
		for seen := 0; known && seen <= len(because); seen++ { // causes may be a cycle
			if source := p.sources[p.Graph.Ref(id).UID]; source != "" {
				return source
			}
			id, known = because[id].Cause, because[id].HasCause
		}
	}
	return ""
}
