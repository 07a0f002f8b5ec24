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
	case plan.OwnersGone:
		return Because(p.Graph, id, r) + p.once(r)
	case plan.ForegroundCycle:
		for _, cycle := range p.Cycles {
			if slices.Contains(cycle, id) {
				return "foreground cycle " + p.cycle(cycle) + endless
			}
		}
	}
	return Because(p.Graph, id, r)
}

// Because words why something is done to an object, or is not. Text that objects supplied is
// escaped.
func Because(g *graph.Graph, id graph.ID, r plan.Reason) string {
	switch e, ok := plan.Reference(g, id, r); {
	case ok && r.Code == plan.OwnerMismatch:
		return mismatch(g, e)
	case ok && r.Code == plan.OwnerUnresolved:
		return notJudged(e)
	}
	return sentence(g, r)
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

// mismatch says what a reference names, and what its uid is.
func mismatch(g *graph.Graph, e graph.Edge) string {
	names := Escape(e.Kind) + "/" + Escape(e.Name)
	owner := g.Ref(e.Owner)
	if e.Problem&(graph.WrongName|graph.WrongKind) == 0 {
		return fmt.Sprintf("its reference names %s, which is in another namespace: %s", names, Escape(owner.Namespace))
	}
	is := KindName(g.Ref(e.Owner))
	if is == names { // of another group
		names, is = Escape(e.APIVersion)+" "+names, Escape(owner.APIVersion)+" "+is
	}
	return fmt.Sprintf("its reference names %s, and its uid is that of %s", names, is)
}

// notJudged says why the collector never acts on an object because of one of its references (GC-048
// to GC-050).
func notJudged(e graph.Edge) string {
	names := Escape(e.Kind) + "/" + Escape(e.Name)
	switch {
	case e.Problem&graph.Unresolvable != 0:
		return fmt.Sprintf("its reference names kind %s of %s, which discovery does not show: the collector never acts on it",
			Escape(e.Kind), Escape(e.APIVersion))
	case e.Problem&graph.InexactKind != 0:
		return fmt.Sprintf("its reference names kind %s of %s, and no served type, or more than one, has exactly that kind",
			Escape(e.Kind), Escape(e.APIVersion))
	case e.Problem&graph.WrongScope != 0:
		return fmt.Sprintf(
			"cluster-scoped, but its reference names %s, which is namespaced: the collector never acts on it", names)
	}
	return fmt.Sprintf("it is unknown whether its owner %s exists", names)
}

// endless is what there is to say of a cycle, and what to do about it.
const endless = ": the deletion cannot complete until blockOwnerDeletion is false in one of their references"

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
