package plan

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// sentences are those for the reasons of a plan; % stands for the object that is the cause.
var sentences = map[ReasonCode]sentence{
	Requested:      {"", "it was named"},
	OwnersGone:     {"its owner % is gone", "its owners are gone"},
	OwnerWaiting:   {"its owner % waits for it", "its owner waits for it"},
	OwnedByAnother: {"% owns it too", "another object owns it too"},
	OwnerOrphans:   {"% is deleted with --cascade=orphan", "its owner is deleted with --cascade=orphan"},
	NoBlockers:     {"", "no dependent blocks it any more"},
	Orphaned:       {"", "its dependents have no references to it any more"},
	MayBeCycle:     {"", "one of its dependents waits too, which may be a cycle"},
	CRDDeleted:     {"its CRD % is deleted", "its CRD is deleted"},
	Content:        {"its namespace % is deleted", "its namespace is deleted"},
	ContentGone:    {"", "nothing is left in it"},
	OwnerUnresolved: {"the collector cannot resolve its reference to %, and never acts on it",
		"the collector cannot resolve one of its references, and never acts on it"},
	OwnerStays:        {"its owner % stays", "its owner stays"},
	ForeignFinalizers: {"", "it waits for its finalizers"},
	Protected:         {"", "the server refuses its deletion"},
	NotReached: {"the controller of namespaces stops at %, which the server refuses to delete",
		"the controller of namespaces stops before it"},
	ActorDeleted: {"nobody can remove its finalizers once % is deleted", "who removes its finalizers is deleted"},
	DiscoveryFails: {"the namespace controller cannot finish it once % is deleted",
		"the namespace controller cannot finish it"},
	NotDone:         {"", "the write was not made"},
	Deadlock:        {"it and % wait for each other", "it waits for itself"},
	DependentsBlock: {"it waits for %", "it waits for its dependents"},
	ForegroundCycle: {"", "it waits for itself, and its deletion cannot complete"},
	OwnerMismatch:   {"the collector does not find its owner %", "the collector does not find its owner"},
	PVCRetained:     {"% retains its PVCs (whenDeleted: Retain)", "PVCs are retained (whenDeleted: Retain)"},
	PVCNotOwned: {"% deletes its PVCs (whenDeleted: Delete), but this one has no reference to it yet",
		"it has no reference to its StatefulSet yet"},
	Strict:         {"--strict makes % wait for it", "--strict makes its owners wait for it"},
	GracePeriod:    {"", "it gets the requested grace period"},
	LinkForeground: {"a controller is to delete % in the foreground", "a controller is to delete in the foreground"},
	LinkFirst: {"a controller would delete it in the background with %",
		"a controller would delete it in the background"},
	LinkDeleted:  {"a controller deletes it, since % is deleted", "a controller deletes it"},
	LinkPending:  {"only a controller deletes it, when it acts on the deletion of %", "only a controller deletes it"},
	LinkWaits:    {"a controller waits until % is gone", "a controller waits for other objects"},
	LinkKept:     {"no controller deletes it with %", "no controller deletes it"},
	Ordered:      {"", "it has to be gone before a later stage begins"},
	EarlierStage: {"an earlier stage waits for %", "an earlier stage does not end"},
	LinkRefused:  {"a controller may not delete what it has to: %", "a controller may not delete what it has to"},
	LinkNotSeen:  {"no controller sees the deletion of %", "no controller deletes it"},
	NotPruned:    {"", "who prunes leaves it"},
}

// sentence is what there is to say of a reason, with its cause and without.
type sentence struct{ with, without string }

// naming is the sentence with its cause.
func (s sentence) naming(cause graph.Ref) string {
	return strings.Replace(s.with, "%", phrase.Escape(cause.KindName()), 1)
}

// Sentence words a reason whose cause is no node of a plan's graph; its uid is empty if there is
// none. Text that objects supplied is escaped.
func (c ReasonCode) Sentence(cause graph.Ref) string {
	s := sentences[c]
	if cause.UID == "" || s.with == "" {
		return s.without
	}
	return s.naming(cause)
}

// Sentence says why something is done to an object of a graph, or is not. Text that objects supplied
// is escaped.
func (r Reason) Sentence(g *graph.Graph, object graph.ID) string {
	switch e, ok := Reference(g, object, r); {
	case ok && r.Code == OwnerMismatch:
		return otherwise(g, e)
	case ok && r.Code == OwnerUnresolved:
		return notJudged(e)
	}
	s := sentences[r.Code]
	if !r.HasCause || s.with == "" {
		return s.without
	}
	says := s.naming(g.Ref(r.Cause))
	if r.Code == OwnedByAnother && g.State(r.Cause) == graph.Deleting {
		says = "for now: " + says + ", and is being deleted" // first, as it may be cut off
	}
	return says
}

// otherwise says what a reference names, and what its uid is.
func otherwise(g *graph.Graph, e graph.Edge) string {
	names := phrase.Escape(e.Kind) + "/" + phrase.Escape(e.Name)
	owner := g.Ref(e.Owner)
	if e.Problem&(graph.WrongName|graph.WrongKind) == 0 {
		return fmt.Sprintf("its reference names %s, which is in another namespace: %s", names, phrase.Escape(owner.Namespace))
	}
	is := phrase.Escape(g.Ref(e.Owner).KindName())
	if is == names { // of another group
		names, is = phrase.Escape(e.APIVersion)+" "+names, phrase.Escape(owner.APIVersion)+" "+is
	}
	return fmt.Sprintf("its reference names %s, and its uid is that of %s", names, is)
}

// notJudged says why the collector never acts on an object because of one of its references (GC-048
// to GC-050).
func notJudged(e graph.Edge) string {
	names := phrase.Escape(e.Kind) + "/" + phrase.Escape(e.Name)
	switch {
	case e.Problem&graph.Unresolvable != 0:
		return fmt.Sprintf("its reference names kind %s of %s, which discovery does not show: the collector never acts on it",
			phrase.Escape(e.Kind), phrase.Escape(e.APIVersion))
	case e.Problem&graph.InexactKind != 0:
		return fmt.Sprintf("its reference names kind %s of %s, and no served type, or more than one, has exactly that kind",
			phrase.Escape(e.Kind), phrase.Escape(e.APIVersion))
	case e.Problem&graph.WrongScope != 0:
		return fmt.Sprintf(
			"cluster-scoped, but its reference names %s, which is namespaced: the collector never acts on it", names)
	}
	return fmt.Sprintf("it is unknown whether its owner %s exists", names)
}
