package diagnose

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// concerned says whether what is said of an object may advise to do something about another, to
// which it leads by a link or an ownerReference: that confirms the link, is owned, or was asked
// about too.
func (e *linked) concerned(id, end graph.ID) bool {
	if e.subjects[end] {
		return true
	}
	for edge := range e.Graph.Owners(end) {
		if edge.Owner == id {
			return true
		}
	}
	for _, f := range e.Links.Found(id) {
		if f.Dependent() == end && f.Confirmed {
			return true
		}
	}
	return false
}

// toLookAt are what an object waits for. Of what an unconfirmed link leads to and that is not being
// deleted, the server is not asked who rejects its deletion.
func (e *linked) toLookAt(id graph.ID, name string) []graph.ID {
	return slices.DeleteFunc(e.awaitedBy(id, name), func(end graph.ID) bool {
		return e.Graph.DeletionTimestamp(end) == 0 && !e.concerned(id, end)
	})
}

// withoutAdvice takes what to do out of findings that were made behind an object to which only an
// unconfirmed link leads.
func (e *linked) withoutAdvice(findings []core.Finding, id, end graph.ID) []core.Finding {
	return core.Each(findings, func(f *core.Finding) {
		f.Commands, f.Cost = nil, ""
		f.Remedy = fmt.Sprintf("Only %s says that %s belongs to it: leave that to whoever it belongs to.", e.Placed(id), e.Placed(end))
	})
}
