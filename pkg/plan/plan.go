package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Verb is what is done to an object.
type Verb string

const (
	// VerbDelete sends a DELETE.
	VerbDelete Verb = "delete"
	// VerbOrphan takes references off an object.
	VerbOrphan Verb = "orphan"
	// VerbUnblock sets blockOwnerDeletion to false on an object's references.
	VerbUnblock Verb = "unblock"
	// VerbBlock sets blockOwnerDeletion to true on an object's references.
	VerbBlock Verb = "block"
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
	// ByController is another controller of the control plane: that of namespaces, or the API server's for definitions.
	ByController By = "controller"
)

// Action is one write.
type Action struct {
	Verb   Verb
	Object graph.ID
	// Policy is that of a delete.
	Policy Policy
	// Edges are the references that are taken off, unblocked or made to block, by their Index.
	Edges []int
	// Wave is when it is due: what one wave brings about, the next reacts to. The first is 1; what makes references
	// block comes before it, in 0.
	Wave    int
	By      By
	Because Reason
}

// Reason says why, with the object that is the cause where there is one.
type Reason struct {
	Code Code
	// Cause is the owner, or what waits; meaningful if HasCause.
	Cause    graph.ID
	HasCause bool
}

// Code is a reason in one word.
type Code string

// The reasons of actions and survivors.
const (
	Requested       Code = "Requested"       // it was named
	OwnersGone      Code = "OwnersGone"      // the last owner is gone
	OwnerWaiting    Code = "OwnerWaiting"    // the owner waits for its dependents
	OwnedByAnother  Code = "OwnedByAnother"  // another owner is alive
	OwnerOrphans    Code = "OwnerOrphans"    // the owner is deleted with the policy Orphan
	NoBlockers      Code = "NoBlockers"      // no blocking dependent is left
	Orphaned        Code = "Orphaned"        // the references to it are off
	MayBeCycle      Code = "MayBeCycle"      // a dependent waits itself
	Definition      Code = "Definition"      // the definition of its type is deleted
	Content         Code = "Content"         // its namespace is deleted
	ContentGone     Code = "ContentGone"     // nothing is left in the namespace
	NotJudged       Code = "NotJudged"       // a reference cannot be judged, so the collector never acts
	OwnerStays      Code = "OwnerStays"      // the owner is never gone
	FinalizersHold  Code = "FinalizersHold"  // finalizers of others are on it
	DependentsBlock Code = "DependentsBlock" // blocking dependents are left
	NotDone         Code = "NotDone"         // a write was refused, or there was no time for it
	Deadlock        Code = "Deadlock"        // all members of a cycle wait for each other
	ForegroundCycle Code = "ForegroundCycle" // it waits for itself, by way of others or not
	OwnerMismatch   Code = "OwnerMismatch"   // the reference names something else than what has the owner's uid
	ClaimRetained   Code = "ClaimRetained"   // the StatefulSet it was made for keeps its claims
	ClaimNotOwned   Code = "ClaimNotOwned"   // the StatefulSet it was made for deletes its claims, and has not made itself its owner
	GracePeriod     Code = "GracePeriod"     // the grace period of the roots is given to it
	Strict          Code = "Strict"          // its owner is to wait for it
)

// Survivor is an object that the deletion touches or comes near to, and that is left.
type Survivor struct {
	Object  graph.ID
	Because Reason
}

// Blocker is an object of the cascade that somebody else has to let go.
type Blocker struct {
	Object graph.ID
	// Finalizers are those that are not the collector's.
	Finalizers []string
	// GracePeriodSeconds is how long a pod on a node may take to terminate, 0 for anything else. It is known after Learn.
	GracePeriodSeconds int64
}

// Plan is what a deletion does.
type Plan struct {
	Graph  *graph.Graph
	Policy Policy
	Roots  []graph.ID
	// Actions are in the order of their waves and within one in the order of the graph. They are what happens if everybody who
	// has a finalizer on an object of the cascade takes it off in the end.
	Actions []Action
	// Deleted are the objects that are gone in the end, sorted.
	Deleted []graph.ID
	// Survivors are sorted by object.
	Survivors []Survivor
	// Blockers hold objects of the cascade up, sorted by object.
	Blockers []Blocker
	// Stuck are what is still being deleted in the end although every finalizer of others came off: cycles that wait for
	// themselves, and blocking dependents that the collector cannot judge (GC-064, GC-066).
	Stuck []Survivor
	// Remaining is what is left of Deleted, and why, if the finalizers of others never come off.
	Remaining []Survivor
	// DependsOnTiming says that the end can be another one than this, depending on how fast the collector is and what it takes up first: it tries
	// objects that it could not judge ever more rarely, breaks what may be a cycle in two steps (GC-014, GC-054), and orphans dependents before or
	// after it has judged them (GC-053, GC-067).
	DependsOnTiming bool
	// Unsettled are objects that are known to be able to end otherwise, sorted. It can be empty although the end depends on timing.
	Unsettled []graph.ID
	// NonBlocking are the references of dependents that the policy Foreground does not wait for (GC-061), sorted by dependent.
	NonBlocking []graph.Edge
	// Cycles are the rings among Stuck in which each waits for the next (GC-064).
	Cycles [][]graph.ID
	// Forbidden are the writes of this command that would be refused, and Unread the pods and StatefulSets of the cascade whose content is
	// not known. Both are known after Learn.
	Forbidden []Forbidden
	Unread    []graph.ID
	// Disks are the volumes whose data are destroyed, UnreadDisks the claims and volumes of which that is not known, and Idle the finalizers that nobody removes
	// although their actors are installed. They are known after Learn.
	Disks       []v1alpha1.Disk
	UnreadDisks []graph.ID
	Idle        []Idle

	options Options
	end     *Overlay
	// after are the actions of a run whose finalizers of others were removed; nil if there are none.
	after []Action
}

// End returns the cluster as Actions leave it; it must not be changed.
func (p *Plan) End() *Overlay { return p.end }

// Waves returns the number of waves.
func (p *Plan) Waves() int {
	if len(p.Actions) == 0 {
		return 0
	}
	return p.Actions[len(p.Actions)-1].Wave
}

// Linker returns the dependents of an object that no ownerReference records (package link).
type Linker func(graph.ID) []graph.Link

// New plans the deletion of the roots with a policy.
func New(g *graph.Graph, roots []graph.ID, policy Policy, opts Options) *Plan {
	var released *simulation
	var block []graph.Edge
	if opts.Strict {
		released, block = strictly(g, roots, policy, opts)
	} else {
		released = simulate(g, opts, true, deletion(roots, policy, nil))
	}
	p := &Plan{
		Graph: g, Policy: policy, Roots: roots, options: opts, end: released.Overlay,
		Actions: released.actions, Deleted: released.deleted(),
		Survivors: released.survivors(), Stuck: released.stuck(), Blockers: released.blockers(),
		DependsOnTiming: released.timing,
	}
	p.settle(released, deletion(roots, policy, block))
	if len(block) > 0 {
		p.Actions = append(blocks(block), p.Actions...)
	}
	if len(p.Blockers) > 0 {
		held := simulate(g, opts, false, deletion(roots, policy, block))
		p.Remaining = held.remaining(released)
	}
	p.explain()
	return p
}

// settle finds out whether a simulation, which began so, can end otherwise.
func (p *Plan) settle(s *simulation, begin func(*simulation)) {
	p.Unsettled = s.unsettled(begin)
	p.DependsOnTiming = p.DependsOnTiming || len(p.Unsettled) > 0
}

// Again plans the deletion of other roots in the same cluster with the same policy.
func (p *Plan) Again(roots []graph.ID) *Plan { return New(p.Graph, roots, p.Policy, p.options) }
