package plan

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Verb is what is done to an object.
type Verb string

const (
	// VerbDelete sends a DELETE.
	VerbDelete Verb = "delete"
	// VerbOrphan removes references of an object.
	VerbOrphan Verb = "orphan"
	// VerbUnblock sets blockOwnerDeletion to false on an object's references.
	VerbUnblock Verb = "unblock"
	// VerbBlock sets blockOwnerDeletion to true on an object's references.
	VerbBlock Verb = "block"
	// VerbSetPolicy sets the field of an object in which it says how a program deletes what it
	// names.
	VerbSetPolicy Verb = "setPolicy"
	// VerbRemoveFinalizer takes one of the collector's finalizers off an object.
	VerbRemoveFinalizer Verb = "removeFinalizer"
	// VerbFinalizeNamespace takes the finalizer "kubernetes" off a namespace's spec.
	VerbFinalizeNamespace Verb = "finalizeNamespace"
)

// By is who does it.
type By string

const (
	// ByClient is kubectl gc.
	ByClient By = "client"
	// ByCollector is the garbage collector, the cluster's or the one of --gc=client.
	ByCollector By = "collector"
	// ByController is another controller: that of namespaces, the API server's for CRDs, or the
	// program that follows a link.
	ByController By = "controller"
)

// Action is one write.
type Action struct {
	Verb   Verb
	Object graph.ID
	// Policy is that of a delete.
	Policy Policy
	// Edges are the references that are removed, unblocked or made to block, by their Index.
	Edges []int
	// Setting is what is set, for VerbSetPolicy; nil for all others.
	Setting *Setting
	// Wave is when it is due: what one wave brings about, the next reacts to. The first is 1; what
	// makes references block, and what sets a policy, comes before it, in 0.
	Wave int
	// Stage is that of an ordered deletion, from 1; 0 of any other.
	Stage   int
	By      By
	Because Reason
}

// Setting is a field of an object and what it is set to.
type Setting struct {
	Field link.Path
	Value string
}

// Reason says why, with the object that is the cause where there is one.
type Reason struct {
	Code ReasonCode
	// Cause is the owner, or what waits; meaningful if HasCause.
	Cause    graph.ID
	HasCause bool
}

// ReasonCode is a reason in one word.
type ReasonCode string

// The reasons of actions and survivors.
const (
	Requested         ReasonCode = "Requested"      // it was named
	OwnersGone        ReasonCode = "OwnersGone"     // the last owner is gone
	OwnerWaiting      ReasonCode = "OwnerWaiting"   // the owner waits for its dependents
	OwnedByAnother    ReasonCode = "OwnedByAnother" // another owner is alive
	OwnerOrphans      ReasonCode = "OwnerOrphans"   // the owner is deleted with the policy Orphan
	NoBlockers        ReasonCode = "NoBlockers"     // no blocking dependent is left
	Orphaned          ReasonCode = "Orphaned"       // the references to it are off
	MayBeCycle        ReasonCode = "MayBeCycle"     // a dependent waits itself
	CRDDeleted        ReasonCode = "Definition"     // the CRD of its type is deleted
	Content           ReasonCode = "Content"        // its namespace is deleted
	ContentGone       ReasonCode = "ContentGone"    // nothing is left in the namespace
	OwnerUnresolved   ReasonCode = "NotJudged"      // a reference cannot be resolved, so the collector never acts
	OwnerStays        ReasonCode = "OwnerStays"     // the owner is never gone
	ForeignFinalizers ReasonCode = "FinalizersHold" // finalizers of others are on it
	Protected         ReasonCode = "Protected"      // the server refuses its deletion
	// the controller of its namespace stops at an object that is protected
	NotReached   ReasonCode = "NotReached"
	ActorDeleted ReasonCode = "ActorDeleted" // who removes its finalizers goes with it
	// what answers an API goes with it, so that nobody knows whether the namespace is empty
	DiscoveryFails  ReasonCode = "DiscoveryFails"
	DependentsBlock ReasonCode = "DependentsBlock" // blocking dependents are left
	NotDone         ReasonCode = "NotDone"         // a write was refused, or there was no time for it
	Deadlock        ReasonCode = "Deadlock"        // all members of a cycle wait for each other
	ForegroundCycle ReasonCode = "ForegroundCycle" // it waits for itself, directly or indirectly
	OwnerMismatch   ReasonCode = "OwnerMismatch"   // the reference names something else than what has the owner's uid
	PVCRetained     ReasonCode = "ClaimRetained"   // the StatefulSet it was made for keeps its PVCs
	// the StatefulSet it was made for deletes its PVCs, and has not made itself its owner
	PVCNotOwned    ReasonCode = "ClaimNotOwned"
	GracePeriod    ReasonCode = "GracePeriod"    // the grace period of the roots is given to it
	Strict         ReasonCode = "Strict"         // its owner is to wait for it
	LinkForeground ReasonCode = "LinkForeground" // a program is to delete in the foreground what is below it in a link
	// a program would delete it in the background with what is above it in a link
	LinkFirst   ReasonCode = "LinkFirst"
	LinkDeleted ReasonCode = "LinkDeleted" // a program deletes it because what is above it in a link is deleted
	LinkPending ReasonCode = "LinkPending" // only that program deletes it, and it has not begun
	LinkWaits   ReasonCode = "LinkWaits"   // a program waits until what is below it in a link is gone
	LinkKept    ReasonCode = "LinkKept"    // a program keeps it, as it or its owner in a link says
	// the account as which a program acts cannot delete what is below it in a link, or it
	LinkRefused ReasonCode = "LinkRefused"
	// its owner in a link lacks the finalizer by which the program sees the deletion
	LinkNotSeen  ReasonCode = "LinkNotSeen"
	Ordered      ReasonCode = "Ordered"      // it has to be gone before something else is deleted
	EarlierStage ReasonCode = "EarlierStage" // its stage does not begin
	NotPruned    ReasonCode = "NotPruned"    // who deletes what a source no longer has leaves it
)

// ObjectReason is an object that is not deleted, and why.
type ObjectReason struct {
	Object  graph.ID
	Because Reason
}

// Blocker is an object of the cascade with finalizers that somebody else has to remove.
type Blocker struct {
	Object graph.ID
	// Finalizers are those that are not the collector's.
	Finalizers []string
	// GracePeriodSeconds is how long a pod on a node may take to terminate, 0 for anything else. It
	// is known after Learn.
	GracePeriodSeconds int64
}

// Plan is what a deletion does.
type Plan struct {
	Graph  *graph.Graph
	Policy Policy
	Roots  []graph.ID
	// Actions are in the order of their waves and within one in the order of the graph. They are
	// what happens if everybody who has a finalizer on an object of the cascade removes it in the
	// end.
	Actions []Action
	// Deleted are the objects that are gone in the end, sorted.
	Deleted []graph.ID
	// Kept are the objects that the deletion touches or comes near to and that are not deleted,
	// sorted.
	Kept []ObjectReason
	// Blockers keep objects of the cascade from being deleted, sorted by object.
	Blockers []Blocker
	// Deadlocked are terminating in the end although every finalizer of others was removed: cycles
	// that wait for themselves, and blocking dependents that the collector cannot judge (GC-064,
	// GC-066).
	Deadlocked []ObjectReason
	// Blocked are those of Deleted that are not deleted, and why, as long as the finalizers of
	// others are not removed.
	Blocked []ObjectReason
	// DependsOnTiming says that the end can be another one than this, depending on how fast the
	// collector is and what it takes up first: it tries objects that it could not judge ever more
	// rarely, breaks what may be a cycle in two steps (GC-014, GC-054), and orphans dependents
	// before or after it has judged them (GC-053, GC-067).
	DependsOnTiming bool
	// Unsettled are objects that are known to be able to end otherwise, sorted. It can be empty
	// although the end depends on timing.
	Unsettled []graph.ID
	// NonBlocking are the references of dependents that the policy Foreground does not wait for
	// (GC-061), sorted by dependent.
	NonBlocking []graph.Edge
	// Recreated are those of Deleted that a program probably creates again, because an object that
	// it keeps names them, sorted.
	Recreated []Recreated
	// Guarded are the objects whose deletion the server refuses as long as their guards are there,
	// in the order of the deletes.
	Guarded []Guarded
	// Cycles are the rings among Deadlocked in which each waits for the next (GC-064).
	Cycles [][]graph.ID
	// Facts are known after Learn, and Freed is what no longer holds or asks for something in the end;
	// nil if that is nothing.
	Facts
	Freed *v1alpha1.Freed

	options Options
	end     *Projection
	staged  *staging
	// unreleased is what happens as long as the finalizers of others are not removed; nil if that
	// was not simulated.
	unreleased *simulation
	// after are the actions of a run whose finalizers of others were removed; nil if there are
	// none.
	after []Action
}

// End returns the cluster as Actions leave it; it must not be changed.
func (p *Plan) End() *Projection { return p.end }

// Waves returns the number of waves.
func (p *Plan) Waves() int {
	if len(p.Actions) == 0 {
		return 0
	}
	return p.Actions[len(p.Actions)-1].Wave
}

// New plans the deletion of the roots with a policy.
func New(g *graph.Graph, roots []graph.ID, policy Policy, opts Options) *Plan {
	opts.belongs = opts.Links.Belonging(roots)
	s, start := carriedOut(g, roots, policy, opts)
	return planOf(s, start, nil)
}

// Left says why the program leaves an object that was to delete it; empty if it does not.
func (p *Plan) Left(id graph.ID) string { return p.options.Left[id] }

// keepLeft adds to Kept what was meant and is left, unless it goes all the same with something else.
func (p *Plan) keepLeft(s *simulation) {
	if len(p.options.Left) == 0 {
		return
	}
	because := Reason{Code: NotPruned}
	for i, k := range p.Kept {
		if p.options.Left[k.Object] != "" {
			p.Kept[i].Because = because
		}
	}
	for id := range p.options.Left {
		if !s.is(id, gone|deleting) && !slices.ContainsFunc(p.Kept, func(k ObjectReason) bool { return k.Object == id }) {
			p.Kept = append(p.Kept, ObjectReason{Object: id, Because: because})
		}
	}
	slices.SortFunc(p.Kept, func(a, b ObjectReason) int { return cmp.Compare(a.Object, b.Object) })
}

// Belongs reports whether an object belongs to the roots: it was named, lies inside what was named,
// is owned by it, or a confirmed link leads to it. The client writes to no other, and saves no
// other.
func (p *Plan) Belongs(id graph.ID) bool { return p.options.mayChange(id) }

// Unconfirmed are those of Deleted and Deadlocked that do not belong to the roots, sorted.
func (p *Plan) Unconfirmed() []graph.ID {
	if p.options.belongs == nil {
		return nil
	}
	ids := slices.DeleteFunc(slices.Concat(p.Deleted, Objects(p.Deadlocked)), p.Belongs)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// planOf is the plan of what was simulated. If it is known already what happens as long as the
// finalizers of others are not removed, that is not simulated again.
func planOf(s *simulation, start start, unreleased *simulation) *Plan {
	p := &Plan{
		Graph: s.Graph, Policy: start.policy, Roots: start.roots, options: s.options, end: s.Projection,
		Actions: s.actions, Deleted: s.deleted(),
		Kept: s.kept(), Deadlocked: s.deadlocked(), Blockers: s.blockers(),
		DependsOnTiming: s.timing, Guarded: s.guarded, staged: s.staged,
	}
	p.keepLeft(s)
	p.settle(s, start.begin)
	if first := append(p.settings(), blocks(start.block)...); len(first) > 0 {
		p.Actions = append(first, p.Actions...)
	}
	if len(p.Blockers) > 0 {
		if unreleased == nil {
			unreleased = simulate(s.Graph, s.options, false, func(s *simulation) {
				s.silent = true
				start.begin(s)
			})
		}
		p.Blocked, p.unreleased = unreleased.blocked(s), unreleased
	}
	p.explain()
	return p
}

// carriedOut simulates a deletion in which others remove their finalizers, and says how it begins.
func carriedOut(g *graph.Graph, roots []graph.ID, policy Policy, opts Options) (*simulation, start) {
	start := start{roots: roots, policy: policy, opts: opts, stages: opts.stages}
	if opts.Strict {
		return strictly(g, &start, opts), start
	}
	return simulate(g, opts, true, start.begin), start
}

// settle finds out whether a simulation, which began so, can end otherwise.
func (p *Plan) settle(s *simulation, begin func(*simulation)) {
	p.Unsettled = s.unsettled(begin)
	p.DependsOnTiming = p.DependsOnTiming || len(p.Unsettled) > 0
}

// Again plans the deletion of other roots in the same cluster with the same policy.
func (p *Plan) Again(roots []graph.ID) *Plan { return New(p.Graph, roots, p.Policy, p.options) }
