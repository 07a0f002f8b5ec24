package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Because words why something is done to an object of the plan, or is not.
func (p Plan) Because(id graph.ID, r plan.Reason) string {
	if f, ok := p.Link(id, r); ok {
		return linkReason(p.Graph, f, r)
	}
	switch r.Code {
	case plan.NotPruned:
		return Escape(p.Left(id))
	case plan.OwnersGone:
		return r.Sentence(p.Graph, id) + p.once(r)
	case plan.ForegroundCycle:
		for _, cycle := range p.Cycles {
			if slices.Contains(cycle, id) {
				return "foreground cycle " + p.cycle(cycle) + endless
			}
		}
	}
	return r.Sentence(p.Graph, id)
}

// once says what has to happen before the owner is gone that is the cause (GC-046).
func (p Plan) once(r plan.Reason) string {
	if !r.HasCause {
		return ""
	}
	b, ok := p.Blocker(r.Cause)
	switch {
	case !ok:
		return ""
	case len(b.Finalizers) > 0:
		return ", once " + Escape(strings.Join(b.Finalizers, ", ")) + " is removed"
	}
	return ", once it has terminated"
}

// endless is what there is to say of a cycle, and what to do about it.
const endless = ": the deletion cannot complete until blockOwnerDeletion is false in one of their references"

// briefReason shortens a reason to so many columns. Where it would lose what becomes of the owner,
// the namespace or the CRD that it names, as in "its owner Deployment/web is…", it leaves out the
// name, which the tree shows: "its owner is gone".
func briefReason(because string, to int) string {
	short := brief(because, to)
	for _, of := range []string{"its owner", "its namespace", "its CRD"} {
		for _, what := range []string{" is gone", " is deleted", " stays", " waits for it"} {
			i := strings.Index(because, what)
			if i > 0 && strings.HasPrefix(because, of+" ") && !strings.Contains(short, what) {
				return brief(of+because[i:], to)
			}
		}
	}
	return short
}

// maxMembers is how many members of a cycle are named.
const maxMembers = 6

// cycle names the members of a cycle, each of which waits for the next.
func (p Plan) cycle(members []graph.ID) string {
	var names []string
	for i, id := range members {
		if i == maxMembers {
			names = append(names, fmt.Sprintf("%d more", len(members)-i))
			break
		}
		names = append(names, KindName(p.Graph.Ref(id)))
	}
	return strings.Join(append(names, names[0]), " -> ")
}

// WaitsFor says what has to happen for an object to go.
func (p Plan) WaitsFor(b plan.Blocker) string {
	var parts []string
	if len(b.Finalizers) > 0 {
		parts = append(parts, p.heldBy(b))
	}
	for _, c := range p.Confirmations {
		if c.Object.UID == p.Graph.Ref(b.Object).UID {
			parts = append(parts, c.Waits)
		}
	}
	if until := p.until(b); until != "" {
		parts = append(parts, until)
	}
	if b.GracePeriodSeconds > 0 {
		parts = append(parts, fmt.Sprintf("the kubelet terminates it within %d s", b.GracePeriodSeconds))
	}
	return strings.Join(parts, "; ")
}

// holder is the same in the few words of a table's cell.
func (p Plan) holder(b plan.Blocker) string {
	parts := make([]string, 0, len(b.Finalizers)+2)
	for _, f := range b.Finalizers {
		parts = append(parts, Escape(f))
	}
	if b.GracePeriodSeconds > 0 {
		parts = append(parts, fmt.Sprintf("grace %d s", b.GracePeriodSeconds))
	}
	if until := p.until(b); until != "" {
		return strings.Join(parts, ",") + " " + until
	}
	return strings.Join(parts, ",")
}
