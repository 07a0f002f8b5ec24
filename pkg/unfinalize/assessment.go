package unfinalize

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Method is how a finalizer is removed.
type Method string

const (
	// ByPatch removes it from the metadata.
	ByPatch Method = "Patch"
	// ByOrphaning takes the references to the owner off its dependents, and then the finalizer:
	// what it stands for is done.
	ByOrphaning Method = "Orphan"
	// ByPolicy deletes the object again, in the background; the server removes the finalizer
	// (API-004).
	ByPolicy Method = "Policy"
	// ByFinalizing removes it from the spec of a namespace.
	ByFinalizing Method = "Finalize"
	// ByDelete deletes again what has no finalizer and whose deletion was left half done (RO-063).
	ByDelete Method = "Delete"
)

// Code is why a finalizer is not removed, in one word.
type Code string

// The reasons of refusals.
const (
	NotThere         Code = "NotThere"         // the object has no such finalizer
	NothingHeld      Code = "NothingHeld"      // it has none at all
	NotDeleting      Code = "NotDeleting"      // it is not being deleted
	ActorAlive       Code = "ActorAlive"       // who removes it is alive
	ActorNotFound    Code = "ActorNotFound"    // who removes it was looked for and not found
	ActorUnknown     Code = "ActorUnknown"     // nobody knows who removes it, or whether they are alive
	ActorOutside     Code = "ActorOutside"     // who removes it runs outside the cluster
	InUse            Code = "InUse"            // other objects use it
	UseUnknown       Code = "UseUnknown"       // other objects can use it
	DataLoss         Code = "DataLoss"         // data can be lost
	BreaksCluster    Code = "BreaksCluster"    // the cluster can stop working
	NotEmpty         Code = "NotEmpty"         // something is left in the namespace
	NotProvenEmpty   Code = "NotProvenEmpty"   // something can be left in the namespace
	HiddenDependents Code = "HiddenDependents" // a dependent can be where nobody could look
	Forbidden        Code = "Forbidden"        // the user has not the right
	NotArchived      Code = "NotArchived"      // it was changed after it was archived
	ServerRefuses    Code = "ServerRefuses"    // a dry run of the write was refused
)

// Override is the flag that overrides a refusal.
type Override string

// The overrides; Never is for what no flag overrides.
const (
	Never         Override = ""
	WithForce     Override = "--force"
	WithForceLive Override = "--force-live"
)

// Refusal is a reason not to remove a finalizer.
type Refusal struct {
	Code     Code
	Because  string
	Override Override
	// Hint is what to do about it, empty if the overriding flag is all there is.
	Hint string
}

// Asks reports whether somebody who is asked, and told the reason, can override the refusal by the
// answer: where it is not known whether the finalizer's own work will be done, and not where it is
// known that something is destroyed.
func (r Refusal) Asks() bool {
	return r.Code == ActorNotFound || r.Code == ActorUnknown || r.Code == ActorOutside
}

// Overrides are what the user has overridden. Asked says that a question names what speaks against
// it, and that nothing is done without an answer.
type Overrides struct{ Force, ForceLive, Asked bool }

// Covers reports whether a refusal is overridden.
func (t Overrides) Covers(r Refusal) bool {
	return r.Override == WithForce && (t.Force || t.Asked && r.Asks()) || r.Override == WithForceLive && t.ForceLive
}

// Assessment is what is to be done about one finalizer of an object.
type Assessment struct {
	// FinalizerRef is empty for ByDelete, and its Field is for a finalizer that is not there.
	FinalizerRef
	Method Method
	// Note says why it is this way where another could be expected: a patch where another policy is
	// what is wanted.
	Note  string
	Actor actor.Actor
	// Refusals are all reasons against it, overridden or not.
	Refusals []Refusal
}

func (v *Assessment) refuse(code Code, override Override, because, hint string) {
	v.Refusals = append(v.Refusals, Refusal{Code: code, Because: because, Override: override, Hint: hint})
}

// Against returns the refusals that the overrides do not cover.
func (v *Assessment) Against(t Overrides) []Refusal {
	return slices.DeleteFunc(slices.Clone(v.Refusals), t.Covers)
}

// Needs says what overrides the refusals that the flags do not: other flags, or "confirmation" where
// an answer on a terminal does, as --force does without one. It is the same whoever is asked. It is
// empty for none, and where one cannot be overridden.
func (v *Assessment) Needs(t Overrides) string {
	t.Asked = false
	var needs []string
	for _, r := range v.Against(t) {
		need := string(r.Override)
		if r.Asks() {
			need = Confirmation
		}
		switch {
		case r.Override == Never:
			return ""
		case !slices.Contains(needs, need):
			needs = append(needs, need)
		}
	}
	if slices.Contains(needs, string(WithForce)) { // which covers what would be asked about
		needs = slices.DeleteFunc(needs, func(n string) bool { return n == Confirmation })
	}
	slices.Sort(needs)
	return strings.Join(needs, ", ")
}

// Confirmation is what an Assessment needs where --force does as well.
const Confirmation = "confirmation"

// Details are what an assessment needs to know besides the object and the actor.
type Details struct {
	// Unlisted says that the listing has not shown the object whose dependents are to be orphaned,
	// and Hiding are the gaps in which one of them can be.
	Unlisted bool
	Hiding   []v1alpha1.Gap
	// Empty is what was found in a namespace, nil if nobody looked.
	Empty *Emptiness
	// After is what follows when the object is gone, nil if nobody looked.
	After *Aftermath
}

// Emptiness is what a complete listing of a namespace has shown.
type Emptiness struct {
	Remaining []graph.Ref
	Gaps      []v1alpha1.Gap
}

// Proven says that nothing is left in the namespace, and that nothing can be.
func (e *Emptiness) Proven() bool { return e != nil && len(e.Remaining) == 0 && len(e.Gaps) == 0 }
