package render

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// reasons are the sentences for the reasons of a plan; % stands for the object that is the cause.
var reasons = map[plan.ReasonCode]struct{ with, without string }{
	plan.Requested:      {"", "it was named"},
	plan.OwnersGone:     {"its owner % is gone", "its owners are gone"},
	plan.OwnerWaiting:   {"its owner % waits for it", "its owner waits for it"},
	plan.OwnedByAnother: {"% owns it too", "another object owns it too"},
	plan.OwnerOrphans:   {"% is deleted with --cascade=orphan", "its owner is deleted with --cascade=orphan"},
	plan.NoBlockers:     {"", "no dependent blocks it any more"},
	plan.Orphaned:       {"", "its dependents have no references to it any more"},
	plan.MayBeCycle:     {"", "one of its dependents waits too, which may be a cycle"},
	plan.CRDDeleted:     {"its CRD % is deleted", "its CRD is deleted"},
	plan.Content:        {"its namespace % is deleted", "its namespace is deleted"},
	plan.ContentGone:    {"", "nothing is left in it"},
	plan.OwnerUnresolved: {"the collector cannot resolve its reference to %, and never acts on it",
		"the collector cannot resolve one of its references, and never acts on it"},
	plan.OwnerStays:        {"its owner % stays", "its owner stays"},
	plan.ForeignFinalizers: {"", "it waits for its finalizers"},
	plan.Protected:         {"", "the server refuses its deletion"},
	plan.NotReached: {"the controller of namespaces stops at %, which the server refuses to delete",
		"the controller of namespaces stops before it"},
	plan.ActorDeleted: {"nobody can remove its finalizers once % is deleted", "who removes its finalizers is deleted"},
	plan.DiscoveryFails: {"the namespace controller cannot finish it once % is deleted",
		"the namespace controller cannot finish it"},
	plan.NotDone:         {"", "the write was not made"},
	plan.Deadlock:        {"it and % wait for each other", "it waits for itself"},
	plan.DependentsBlock: {"it waits for %", "it waits for its dependents"},
	plan.ForegroundCycle: {"", "it waits for itself, and its deletion cannot complete"},
	plan.OwnerMismatch:   {"the collector does not find its owner %", "the collector does not find its owner"},
	plan.PVCRetained:     {"% retains its PVCs (whenDeleted: Retain)", "PVCs are retained (whenDeleted: Retain)"},
	plan.PVCNotOwned: {"% deletes its PVCs (whenDeleted: Delete), but this one has no reference to it yet",
		"it has no reference to its StatefulSet yet"},
	plan.Strict:         {"--strict makes % wait for it", "--strict makes its owners wait for it"},
	plan.GracePeriod:    {"", "it gets the requested grace period"},
	plan.LinkForeground: {"a controller is to delete % in the foreground", "a controller is to delete in the foreground"},
	plan.LinkFirst: {"a controller would delete it in the background with %",
		"a controller would delete it in the background"},
	plan.LinkDeleted:  {"a controller deletes it, since % is deleted", "a controller deletes it"},
	plan.LinkPending:  {"only a controller deletes it, when it acts on the deletion of %", "only a controller deletes it"},
	plan.LinkWaits:    {"a controller waits until % is gone", "a controller waits for other objects"},
	plan.LinkKept:     {"no controller deletes it with %", "no controller deletes it"},
	plan.Ordered:      {"", "it has to be gone before a later stage begins"},
	plan.EarlierStage: {"an earlier stage waits for %", "an earlier stage does not end"},
	plan.LinkNotSeen:  {"no controller sees the deletion of %", "no controller deletes it"},
}

// sentence words a reason by its code and cause alone. Text that objects supplied is escaped.
func sentence(g *graph.Graph, r plan.Reason) string {
	sentence := reasons[r.Code]
	if !r.HasCause || sentence.with == "" {
		return sentence.without
	}
	cause := KindName(g.Ref(r.Cause))
	for i := range len(sentence.with) {
		if sentence.with[i] == '%' {
			return sentence.with[:i] + cause + sentence.with[i+1:]
		}
	}
	return sentence.with
}
