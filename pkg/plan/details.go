package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Details are what a plan cannot tell from metadata: somebody who can ask the server finds them out
// and passes them to Learn.
type Details struct {
	// Pods and StatefulSets are those of the cascade that were read.
	Pods         map[graph.ID]Pod
	StatefulSets map[graph.ID]StatefulSet
	// Unread are the pods and StatefulSets of the cascade that were not.
	Unread []graph.ID
	// GracePeriodSeconds, if not nil, goes with the requested deletes, and with no others (GC-056).
	// Propagated says that it then shortens that of their dependents.
	GracePeriodSeconds *int64
	Propagated         bool
	// Disks are the volumes whose data are destroyed because they, or their PVCs, are deleted, and
	// UnreadDisks the PVCs and volumes of which that is not known.
	Disks       []v1alpha1.Disk
	UnreadDisks []graph.ID
	// Idle are finalizers that the deletion waits for and whose actors do not run.
	Idle []Idle
	// Abandoned are finalizers of objects that are not deleted, which nobody removes any more.
	Abandoned []Abandoned
	// Unserved are APIServices that are not deleted although what answers them is.
	Unserved []Unserved
	// Spared are objects whose finalizers' actors leave what they manage outside the cluster, and
	// UnreadSpared those of which that is not known.
	Spared       []Spared
	UnreadSpared []graph.ID
	// Decided are the fields that tell the actors of finalizers what to do with what they manage
	// outside the cluster.
	Decided []Decided
	// Forbidden are the writes of this command that the server is known to refuse.
	Forbidden []Forbidden
}

// Spared is an object that is deleted while what it stands for outside the cluster stays.
type Spared struct {
	Object    graph.ID
	Finalizer string
	// Because says what in the object says so: spec.deletionPolicy is Orphan.
	Because string
}

// Decided is a field that tells the actor of a finalizer what to do with what it manages outside
// the cluster, or that identifies it there.
type Decided struct {
	Object    graph.ID
	Finalizer string
	// Field names it, and Value is what it has, as JSON; empty if that is nothing.
	Field, Value string
}

// Forbidden is a write that the user may not do.
type Forbidden struct {
	Object graph.ID
	// Verb, Resource and Subresource are what the server asks of its authorizer: delete,
	// configmaps.
	Verb, Resource, Subresource string
	// Reason is what the authorizer said, often nothing.
	Reason string
}

// Learn adds the facts to the plan. It changes nothing of what is done, only what is known of it.
func (p *Plan) Learn(f Details) {
	p.Forbidden = f.Forbidden
	p.Unread = slices.Sorted(slices.Values(f.Unread))
	p.learnPods(f)
	p.learnRecreated(f.Pods)
	p.learnPVCs(f.StatefulSets)
	p.learnData(f)
}

// DeletedOf returns the objects of one type that are gone in the end, sorted.
func (p *Plan) DeletedOf(group, resource string) []graph.ID {
	var ids []graph.ID
	for _, id := range p.Deleted {
		if r := p.Graph.Ref(id); r.Resource == resource && r.Group() == group {
			ids = append(ids, id)
		}
	}
	return ids
}

// set is a set of nodes.
type set []bool

func newSet(g *graph.Graph, ids ...[]graph.ID) set {
	s := make(set, g.Len())
	for _, list := range ids {
		for _, id := range list {
			s[id] = true
		}
	}
	return s
}
