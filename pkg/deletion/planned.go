package deletion

import (
	"iter"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Planned is the plan of a deletion with what it rests on. It is for one Perform.
type Planned struct {
	// Plan is nil if no object was found.
	*plan.Plan
	// Snapshot is the listing that the plan rests on; nil if no object was found.
	Snapshot *selection.Snapshot
	// Gaps are what could not be listed, and Hiding those of them that can hide a dependent of what
	// is deleted.
	Gaps, Hiding []v1alpha1.Gap
	// Known is what is known of finalizers; nil if the deletion waits for none.
	Known *finalizer.Registry
	// Missing are the errors of objects that were named and are not there.
	Missing []error
	// Absent are, of a wait, the objects that were meant and do not exist.
	Absent []Absent
	// Unattended are, of a wait, finalizers that nobody removes as things are.
	Unattended []Unattended
	// LeftOut are the objects that were meant when the server was asked first, and are not any
	// more.
	LeftOut []LeftOut
	// PruneWaits are the objects that who prunes does not delete by itself.
	PruneWaits []PruneWait
	// Unscoped says that cluster-scoped objects are deleted although a namespace was given.
	Unscoped bool

	// Asked is what the server has said to the deletes of others; nil if it was not asked.
	Asked *act.Asked
	// Refusals are the objects that this command was to delete and whose deletion the server refused
	// in a dry run.
	Refusals []v1alpha1.Protected

	planner *planner
	// named are the objects to be deleted, in the order in which they were named.
	named []graph.ID
	// left are those of the objects that who prunes leaves.
	left  []graph.ID
	links *link.Links
	// needs say who is needed for what, and releases those of them that are about finalizers.
	needs, releases plan.Needs
	// unserved are the APIServices that stay without what answers them.
	unserved []v1alpha1.Unserved
	// unhooked are the webhooks that stay without what answers them.
	unhooked hooksLost
	details  plan.Details
	// sources are the files that name objects, by uid.
	sources map[string]string
}

// Namespaces returns those of the objects that were named; none for cluster-scoped ones.
func (p *Planned) Namespaces() []string {
	var all []string
	for _, id := range p.Roots {
		if namespace := p.Graph.Namespace(id); namespace != "" {
			all = append(all, namespace)
		}
	}
	return all
}

// LinksComplete returns whether all was read and understood that names what goes with the objects,
// so that no link is missing.
func (p *Planned) LinksComplete() bool {
	return !slices.ContainsFunc(p.Gaps, func(g v1alpha1.Gap) bool { return g.Links })
}

// LeftOut is an object that is not deleted, and why.
type LeftOut struct {
	Object graph.Ref
	Err    error
}

// Rows iterates over the tree of the objects to be deleted, see graph.Graph.Walk, and then over what
// is left of those that were meant, and what goes though nobody deletes it: its deletion began before,
// and waits for something in the tree. Most formats need no more than the first of a large one.
func (p *Planned) Rows() iter.Seq[graph.Row] {
	claims := p.PVCLinks()
	options := graph.TreeOptions{Depth: -1,
		Links: func(id graph.ID) []graph.Link { return slices.Concat(p.links.Dependents(id), claims(id)) }}
	deleted := p.Graph.Walk(p.named, options)
	released := p.Completed()
	if len(p.left)+len(released) == 0 {
		return deleted
	}
	return func(yield func(graph.Row) bool) {
		shown := map[graph.ID]bool{}
		for row := range deleted {
			if shown[row.ID] = true; !yield(row) {
				return
			}
		}
		more := slices.DeleteFunc(slices.Concat(p.left, released), func(id graph.ID) bool { return shown[id] })
		p.Graph.Walk(more, graph.TreeOptions{})(yield)
	}
}

// Empty reports whether there is nothing to delete.
func (p *Planned) Empty() bool { return p.Plan == nil || len(p.Roots) == 0 }

// reasons are why objects are left out, by uid.
func (p *Planned) reasons() map[string]error {
	reasons := make(map[string]error, len(p.LeftOut))
	for _, o := range p.LeftOut {
		reasons[o.Object.UID] = o.Err
	}
	return reasons
}

// Request is what the plan was asked for with.
func (p *Planned) Request() Request { return p.planner.request }

// Signed adds to the plan as it is printed what the deletion was asked for with, and the digest.
func (p *Planned) Signed(out *v1alpha1.Plan) *v1alpha1.Plan {
	p.describe(out)
	out.Digest = digestOf(out)
	return out
}

// Digest returns the digest of that plan without holding all of it.
func (p *Planned) Digest() string {
	rest := p.Outline(p.Gaps)
	p.describe(rest)
	return planContent{
		Plan: rest,
		Actions: func(yield func(v1alpha1.Action) bool) {
			for _, a := range p.Actions {
				if !yield(a.Silent(p.Graph)) {
					return
				}
			}
		},
		Deleted: func(yield func(v1alpha1.ObjectRef) bool) {
			for _, id := range p.Deleted {
				if !yield(p.Graph.Ref(id)) {
					return
				}
			}
		},
		Size: len(p.Actions) + len(p.Deleted),
	}.digest()
}

// describe adds what the deletion was asked for with, and whether the plan and its links are
// complete.
func (p *Planned) describe(out *v1alpha1.Plan) {
	out.Complete = len(p.Hiding) == 0 && p.LinksComplete()
	request := p.Request()
	out.GracePeriodSeconds, out.PropagateGracePeriod = request.GracePeriodSeconds, request.PropagateGracePeriod
	if request.GC == ClientGC {
		out.GC = string(request.GC)
	}
}
