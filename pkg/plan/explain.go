package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// explain adds what shows only when the end of the deletion is known.
func (p *Plan) explain() {
	deleted := newSet(p.Graph, p.Deleted)
	p.explainDeletes(deleted)
	p.NonBlocking = p.nonBlocking(deleted)
	p.Recreated = p.recreated()
	p.Cycles = p.cycles()
	if len(p.Cycles) == 0 {
		return
	}
	p.DependsOnTiming = p.DependsOnTiming || slices.ContainsFunc(p.Cycles, p.avoidable)
	members := newSet(p.Graph, p.Cycles...)
	for i, s := range p.Deadlocked {
		if members[s.Object] {
			p.Deadlocked[i].Because = Reason{Code: ForegroundCycle}
		}
	}
}

// avoidable says whether the collector can break a cycle because it comes between the deletes of
// its members (GC-054, GC-064): it has more than one, and not all of them were waiting before.
func (p *Plan) avoidable(cycle []graph.ID) bool {
	return len(cycle) > 1 && slices.ContainsFunc(cycle, func(id graph.ID) bool {
		return p.Graph.State(id) != graph.Deleting || !slices.Contains(p.Graph.Finalizers(id), ForegroundFinalizer)
	})
}

const mismatch = graph.WrongNamespace | graph.WrongName | graph.WrongKind

// mismatched says whether the collector does not find a seen owner, because the reference with its
// uid names something else (GC-047, X-01).
func mismatched(g *graph.Graph, e graph.Edge) bool {
	return e.Problem&mismatch != 0 && e.Problem&(graph.Unresolvable|graph.WrongScope) == 0 && g.Observed(e.Owner)
}

// mismatched says the same where a live read has shown an owner that lies outside the listing.
func (p *Plan) mismatched(e graph.Edge) bool {
	return mismatched(p.Graph, e) || p.end.proven[e.Index] == Mismatch
}

// explainDeletes names as the cause of the collector's deletes what a person needs to know first: a
// reference because of which an object goes though its owner lives; and an owner that finalizers
// hold, without which the object would go sooner.
func (p *Plan) explainDeletes(deleted set) {
	for i := range p.Actions {
		a := &p.Actions[i]
		if a.Verb != VerbDelete || a.Because.Code != OwnersGone && a.Because.Code != OwnerWaiting {
			continue
		}
		for e := range p.Graph.Owners(a.Object) {
			if p.mismatched(e) && (!deleted[e.Owner] || e.Owner == a.Because.Cause && a.Because.HasCause) {
				a.Because = Reason{Code: OwnerMismatch, Cause: e.Owner, HasCause: true}
				if !deleted[e.Owner] {
					break
				}
			}
		}
		if a.Because.Code == OwnersGone {
			p.preferBlocked(a)
		}
	}
}

// preferBlocked makes the first owner that has finalizers of others the cause: a dependent goes
// only after the last of its owners (GC-046).
func (p *Plan) preferBlocked(a *Action) {
	for e := range p.Graph.Owners(a.Object) {
		if b, ok := p.Blocker(e.Owner); ok && len(b.Finalizers) > 0 {
			a.Because.Cause, a.Because.HasCause = e.Owner, true
			return
		}
	}
}

// Surprises are the deletes of objects that have an owner which lives on under other coordinates
// than the reference to it says.
func (p *Plan) Surprises() []Action {
	deleted := newSet(p.Graph, p.Deleted)
	var surprises []Action
	for _, a := range p.Actions {
		if a.Because.Code == OwnerMismatch && !deleted[a.Because.Cause] {
			surprises = append(surprises, a)
		}
	}
	return surprises
}

// Overridden are the objects that were to orphan their dependents, by a finalizer of their own, and
// that the collector deletes in the foreground all the same, because an owner waits for them: their
// dependents go too (GC-054, X-13).
func (p *Plan) Overridden() []graph.ID {
	var overridden []graph.ID
	for _, a := range p.Actions {
		if a.Verb == VerbDelete && a.By == ByCollector && a.Policy == Foreground &&
			slices.Contains(p.Graph.Finalizers(a.Object), OrphanFinalizer) {
			overridden = append(overridden, a.Object)
		}
	}
	return overridden
}

// Reference returns the reference of an object that a reason is about: one that names something
// else than its owner is (OwnerMismatch), or that the collector cannot judge (OwnerUnresolved).
func Reference(g *graph.Graph, object graph.ID, r Reason) (graph.Edge, bool) {
	for e := range g.Owners(object) {
		if !r.HasCause || e.Owner != r.Cause {
			continue
		}
		switch r.Code {
		case OwnerMismatch:
			if mismatched(g, e) {
				return e, true
			}
		case OwnerUnresolved:
			if e.Problem&(graph.Unresolvable|graph.WrongScope) != 0 || g.State(e.Owner) == graph.Unknown {
				return e, true
			}
		}
	}
	return graph.Edge{}, false
}

// nonBlocking returns the references from objects of a foreground cascade to owners that do not
// wait for them (GC-061).
func (p *Plan) nonBlocking(deleted set) []graph.Edge {
	if p.Policy != Foreground {
		return nil
	}
	waiting := make(set, p.Graph.Len())
	for _, a := range p.Actions {
		if a.Verb == VerbDelete && a.Policy == Foreground && deleted[a.Object] {
			waiting[a.Object] = true
		}
	}
	var edges []graph.Edge
	for _, id := range p.Deleted {
		for e := range p.Graph.Owners(id) {
			if waiting[e.Owner] && e.Owner != id && !p.end.Blocking(e) && !p.blocksOtherwise(e) {
				if len(edges) == cap(edges) { // append would copy them more often
					edges = slices.Grow(edges, max(64, len(edges)))
				}
				edges = append(edges, e)
			}
		}
	}
	return edges
}

// blocksOtherwise says whether another reference of the same object to the same owner blocks, or
// the same was found before.
func (p *Plan) blocksOtherwise(e graph.Edge) bool {
	for other := range p.Graph.Owners(e.Dependent) {
		if other.Owner == e.Owner && (other.Block || other.Index < e.Index) {
			return true
		}
	}
	return false
}

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
	return s.naming(g.Ref(r.Cause))
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
