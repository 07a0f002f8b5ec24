package check

import "slices"

// Code names a kind of finding. Codes are part of the output's contract: they do not change between
// versions.
type Code string

// Severity is how bad a kind of finding is.
type Severity string

// The severities.
const (
	// Error: the reference is wrong, and objects are deleted or kept because of it.
	Error Severity = "error"
	// Warning: it may be wrong, or will matter once something is deleted.
	Warning Severity = "warning"
	// Info: nothing is wrong, and the collector is going to act on the object.
	Info Severity = "info"
)

// Severities are all of them, the worst first.
var Severities = []Severity{Error, Warning, Info}

// Rank is the place of a severity in Severities.
func (s Severity) Rank() int { return slices.Index(Severities, s) }

// AtLeast reports whether a severity is as bad as another, or worse.
func (s Severity) AtLeast(other Severity) bool { return s.Rank() <= other.Rank() }

// The codes.
const (
	OwnerAbsent            Code = "OwnerAbsent"
	OwnerReplaced          Code = "OwnerReplaced"
	WrongName              Code = "WrongName"
	WrongKind              Code = "WrongKind"
	WrongNamespace         Code = "WrongNamespace"
	WrongScope             Code = "WrongScope"
	KindNotServed          Code = "KindNotServed"
	VersionNotServed       Code = "VersionNotServed"
	SelfReference          Code = "SelfReference"
	OwnershipCycle         Code = "OwnershipCycle"
	BlocksOwner            Code = "BlocksOwner"
	SeveralControllers     Code = "SeveralControllers"
	ReferenceInvalid       Code = "ReferenceInvalid"
	NamespaceGone          Code = "NamespaceGone"
	DuplicateReference     Code = "DuplicateReference"
	InexactKind            Code = "InexactKind"
	OwnerNotCollected      Code = "OwnerNotCollected"
	OwnerUnknown           Code = "OwnerUnknown"
	OwnerInFile            Code = "OwnerInFile"
	OwnerNotChecked        Code = "OwnerNotChecked"
	FinalizerActorDead     Code = "FinalizerActorDead"
	FinalizerActorNotFound Code = "FinalizerActorNotFound"
	ProtectionNotApplied   Code = "ProtectionNotApplied"
	ProtectionIncomplete   Code = "ProtectionIncomplete"
	ProtectedAbsent        Code = "ProtectedAbsent"
	OwnerDeleting          Code = "OwnerDeleting"
	OwnerOrphans           Code = "OwnerOrphans"
	OwnerCollected         Code = "OwnerCollected"
	DeletionPending        Code = "DeletionPending"
)

// Kind is what is to be known of a kind of finding.
type Kind struct {
	Code     Code
	Severity Severity
	// Meaning is a clause, with the rule of the collector or the API server that it comes from.
	Meaning string
}

// Kinds are all kinds of findings, in the order of the documentation.
var Kinds = []Kind{
	{OwnerAbsent, Error, "no object of the kind and name exists, by a live read (GC-046)"},
	{OwnerReplaced, Error, "another object has the kind and name: the owner was deleted and created again, and has another uid (GC-046)"},
	{WrongName, Error, "the object with the uid has another name; the collector looks for the name (GC-046)"},
	{WrongKind, Error, "the object with the uid is of another kind or group; the collector looks for the kind (GC-046)"},
	{WrongNamespace, Error, "the owner is in another namespace; the collector looks for it in that of the dependent (GC-047)"},
	{WrongScope, Error, "a cluster-scoped object names an owner of a namespaced kind; the collector never acts on the object (GC-048)"},
	{KindNotServed, Error, "no API serves the kind of the owner; the collector never acts on the object (GC-050)"},
	{VersionNotServed, Error, "the kind of the owner is served in other versions only; the collector never acts on the object (GC-050)"},
	{SelfReference, Error, "the object owns itself directly (GC-064)"},
	{OwnershipCycle, Error, "the object owns itself indirectly: the collector never deletes the members (GC-064, GC-065)"},
	{BlocksOwner, Error, "blockOwnerDeletion is set, and the collector never acts on the object: an owner that is deleted in the foreground waits for it forever (GC-066)"},
	{SeveralControllers, Error, "more than one reference has controller: true; the server rejects every write of the references (API-034)"},
	{ReferenceInvalid, Error, "a field that the server requires is empty, or the owner is an Event of the core group; the server rejects the object (API-034)"},
	{NamespaceGone, Error, "the object is in a namespace that does not exist: nothing deletes it, and before Kubernetes 1.37 the server answers every update with 404 (NS-015)"},
	{DuplicateReference, Warning, "two references have the same uid; the collector compares them by the uid (GC-024)"},
	{InexactKind, Warning, "the kind is spelled otherwise than it is served, or several types have it: the collector guesses which one is meant (X-07)"},
	{OwnerNotCollected, Warning, "the collector does not watch the type of the owner: it notices its deletion late, and never completes it in the foreground (GC-001, GC-003)"},
	{OwnerUnknown, Warning, "the owner could not be read: whether it exists is unknown, which is not absent"},
	{OwnerInFile, Warning, "the owner of a manifest is a manifest, too, and nothing was asked of a server: an owner that is created gets a new uid (API-038)"},
	{FinalizerActorDead, Warning, "the controller that must remove a finalizer is not running: the deletion of the object will not complete"},
	{FinalizerActorNotFound, Warning,
		"the controller that removes a finalizer was not found in the cluster: the deletion of the object may not complete"},
	{ProtectionNotApplied, Warning, "a policy of kubectl gc protect is to protect the object, and no binding applies it"},
	{ProtectionIncomplete, Warning, "a policy of kubectl gc protect protects the object, and does not deny a deletion that would delete it: of an owner that it did not have then, for instance"},
	{ProtectedAbsent, Warning, "a policy of kubectl gc protect protects an object that does not exist any more, and still denies deletions for it"},
	{OwnerNotChecked, Info, "the owner of a manifest was not looked for, because nothing was asked of a server"},
	{OwnerDeleting, Info, "an owner is being deleted in the foreground, and the collector acts on its dependents (GC-053, GC-055)"},
	{OwnerOrphans, Info, "an owner is being deleted with the policy Orphan, and the collector removes the references to it (GC-067)"},
	{OwnerCollected, Info, "the collector is going to delete an owner, and acts on this object after that"},
	{DeletionPending, Info, "the object is being deleted, and the collector has to remove its own finalizer from it (GC-060, GC-067)"},
}

// byCode finds a kind.
var byCode = func() map[Code]Kind {
	all := make(map[Code]Kind, len(Kinds))
	for _, k := range Kinds {
		all[k.Code] = k
	}
	return all
}()
