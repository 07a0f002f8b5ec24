package actor

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// Life is whether somebody who takes a finalizer off is alive.
type Life string

const (
	// Alive: there is a sign of life, such as a Lease that is renewed, or pods that are ready.
	Alive Life = "Alive"
	// Dead: it was looked for and is not there, or what is there does not work.
	Dead Life = "Dead"
	// Unknown: nobody knows what to look for, or it could not be looked for.
	Unknown Life = "Unknown"
)

// Actor is who takes a finalizer off an object.
type Actor struct {
	Finalizer string
	// Known is what the packs say, meaningful if IsKnown. An entry that only the form of the name speaks for does not make it known.
	Known   finalizer.Known
	IsKnown bool
	// Who names it for use in a sentence, empty if nobody can be named.
	Who  string
	Life Life
	// Evidence is what was seen, and where.
	Evidence []v1alpha1.Observation

	// Found says that something of it was seen in the cluster: a workload, a pod, a Lease, a webhook's or an APIService's backend. Without it, Searched names
	// what was looked for, and Outside says that it normally runs outside the cluster, so that not seeing it means nothing.
	Found    bool
	Outside  bool
	Searched []string
	// Workloads are its Deployments, StatefulSets and DaemonSets that were found, and Scaled those that are scaled to 0.
	Workloads []*unstructured.Unstructured
	Scaled    []*unstructured.Unstructured
}

// Finder finds out whether those who take finalizers off are alive. It reads what it needs once, and is safe for concurrent use.
type Finder struct {
	reader *cluster.Reader
	known  *finalizer.Registry
	now    func() time.Time
	rbac   policies
}

// NewFinder returns a Finder that has read nothing yet.
func NewFinder(reader *cluster.Reader, known *finalizer.Registry) *Finder {
	return &Finder{reader: reader, known: known, now: time.Now}
}

// Of returns who takes a finalizer off an object, which has to be whole. What could not be read is in the evidence; the error is that of a context
// that ended.
func (f *Finder) Of(ctx context.Context, o *unstructured.Unstructured, name string) (Actor, error) {
	actor := Actor{Finalizer: name, Life: Unknown}
	gvk := o.GroupVersionKind()
	known, ok := f.known.Lookup(name, gvk.Group, gvk.Kind)
	if ok && !known.Fallback {
		actor.Known, actor.IsKnown, actor.Who = known, true, known.Who()
		actor.add(f.component(ctx, known))
	} else {
		f.unknown(ctx, o, &actor)
	}
	if ctx.Err() != nil {
		return Actor{}, context.Cause(ctx)
	}
	return actor, nil
}

// add takes over what signs come to.
func (a *Actor) add(s signs) {
	a.Life, a.Scaled = s.life(), s.scaled
	a.note(s.evidence()...)
}

// note adds clauses that say what was seen.
func (a *Actor) note(says ...string) {
	for _, s := range says {
		a.Evidence = append(a.Evidence, v1alpha1.Observation{Says: s})
	}
}

// Says returns the clauses of the evidence.
func (a Actor) Says() []string {
	all := make([]string, len(a.Evidence))
	for i, o := range a.Evidence {
		all[i] = o.Says
	}
	return all
}
