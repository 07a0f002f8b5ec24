package render

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// reasons are the sentences for the reasons of a plan; % stands for the object that is the cause.
var reasons = map[plan.Code]struct{ with, without string }{
	plan.Requested:       {"", "it was named"},
	plan.OwnersGone:      {"its owner % is gone", "its owners are gone"},
	plan.OwnerWaiting:    {"its owner % waits for it", "its owner waits for it"},
	plan.OwnedByAnother:  {"% owns it too", "another object owns it too"},
	plan.OwnerOrphans:    {"% is deleted with --cascade=orphan", "its owner is deleted with --cascade=orphan"},
	plan.NoBlockers:      {"", "no dependent blocks it any more"},
	plan.Orphaned:        {"", "its dependents are without references to it"},
	plan.MayBeCycle:      {"", "a dependent waits itself, which may be a cycle"},
	plan.Definition:      {"its definition % is deleted", "its definition is deleted"},
	plan.Content:         {"its namespace % is deleted", "its namespace is deleted"},
	plan.ContentGone:     {"", "nothing is left in it"},
	plan.NotJudged:       {"the collector cannot judge its reference to %, and never acts", "the collector cannot judge one of its references, and never acts"},
	plan.OwnerStays:      {"its owner % stays", "its owner stays"},
	plan.FinalizersHold:  {"", "finalizers hold it"},
	plan.NotDone:         {"", "it was not done"},
	plan.Deadlock:        {"it and % wait for each other", "it waits for itself"},
	plan.DependentsBlock: {"it waits for %", "it waits for its dependents"},
	plan.ForegroundCycle: {"", "it waits for itself, and never ends"},
	plan.OwnerMismatch:   {"the collector does not find its owner %", "the collector does not find its owner"},
	plan.ClaimRetained:   {"% retains its claims (whenDeleted: Retain)", "claims are retained (whenDeleted: Retain)"},
	plan.ClaimNotOwned:   {"% deletes its claims (whenDeleted: Delete), but this one has no reference to it yet", "it has no reference to its StatefulSet yet"},
	plan.Strict:          {"% is to wait for it", "its owners are to wait for it"},
	plan.GracePeriod:     {"", "it gets the grace period that was asked for"},
}

// sentence words a reason by its code and cause alone. Text that objects supplied is escaped.
func sentence(g *graph.Graph, r plan.Reason) string {
	sentence := reasons[r.Code]
	if !r.HasCause || sentence.with == "" {
		return sentence.without
	}
	cause := object(g, r.Cause)
	for i := range len(sentence.with) {
		if sentence.with[i] == '%' {
			return sentence.with[:i] + cause + sentence.with[i+1:]
		}
	}
	return sentence.with
}
