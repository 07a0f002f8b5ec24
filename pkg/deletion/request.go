package deletion

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
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
func (r Request) planOptions(links plan.Links, gaps []v1alpha1.Gap) plan.Options {
	opts := plan.Options{Links: links, Strict: r.Strict}
	if r.GC == ClientGC {
		opts.Rules, opts.Gaps = plan.Loop, gaps
	}
	return opts
}

// finalizers returns what is known of finalizers.
func (r Request) finalizers() (*finalizer.Registry, error) {
	if r.Known == nil {
		return nil, nil
	}
	return r.Known()
}
