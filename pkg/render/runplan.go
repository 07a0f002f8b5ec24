package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// RunPlan is what there is to show of the plan of a run: the objects that something is done to,
// under the owners because of which; with what was examined of it, if anything was.
func RunPlan(p *collect.Proposal, e deletion.Examined) Plan {
	return Plan{Plan: p.Plan, Rows: slices.Values(runRows(p.Plan)), Gaps: slices.Concat(p.Gaps, p.Unread),
		Known: e.Known, Unfinished: e.Unfinished, Unjudged: e.Unjudged}
}

func runRows(p *plan.Plan) []graph.Row {
	shown := map[graph.ID]bool{}
	var ids []graph.ID
	show := func(id graph.ID) {
		if !shown[id] {
			shown[id] = true
			ids = append(ids, id)
		}
	}
	for _, a := range p.Actions {
		if a.Because.HasCause {
			show(a.Because.Cause)
		}
		show(a.Object)
	}
	return p.Graph.Tree(p.Graph.Heads(ids),
		graph.TreeOptions{Depth: -1, Show: func(id graph.ID) bool { return shown[id] }})
}

// NothingToCollect says that a run has nothing to do, as far as everything could be listed and
// read.
func NothingToCollect(listed, unread []v1alpha1.Gap) string {
	switch {
	case len(listed) > 0:
		return "nothing to collect in the types that could be listed"
	case len(unread) > 0:
		return "nothing to collect among the objects that could be read"
	}
	return "nothing to collect"
}

// RunSummary says what a run has done.
func RunSummary(t *collect.Tally) string {
	var parts []string
	for _, part := range []struct {
		n             int
		format, nouns string
	}{
		{t.Count(plan.VerbDelete), "deleted %s", "object"},
		{t.Begun(), "began to delete %s", "object"},
		{t.Count(plan.VerbOrphan), "removed owner references from %s", "dependent"},
		{t.Count(plan.VerbUnblock), "set blockOwnerDeletion to false on %s", "dependent"},
		{t.Count(plan.VerbRemoveFinalizer), "removed the finalizer of %s", "owner"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf(part.format, phrase.Count(part.n, part.nouns)))
		}
	}
	lost := ""
	if n := t.Unanswered(); n > 0 {
		lost = fmt.Sprintf("%s got no answer, and may have taken effect", phrase.Count(n, "write"))
	}
	switch {
	case len(parts) == 0:
		return cmp.Or(lost, "nothing was collected")
	case lost != "":
		lost = "; " + lost
	}
	passes := "1 pass"
	if t.Passes > 1 {
		passes = fmt.Sprintf("%d passes", t.Passes)
	}
	return strings.Join(parts, ", ") + ", in " + passes + lost
}

// Growth says what a plan does that was not agreed to.
func Growth(p *collect.Proposal) string {
	var parts []string
	if ids := p.Growth.Deleted; len(ids) > 0 {
		parts = append(parts, fmt.Sprintf("it deletes %s: %s", phrase.Count(len(ids), "more object"),
			sortedFew(KindNamesOf(p.Graph, ids))))
	}
	if ids := p.Growth.Written; len(ids) > 0 {
		parts = append(parts, fmt.Sprintf("it removes owner references or finalizers of %s: %s",
			phrase.Count(len(ids), "more object"), sortedFew(KindNamesOf(p.Graph, ids))))
	}
	return strings.Join(parts, "; ")
}

// Follows writes a line about what a run deletes besides after others have removed their
// finalizers: who agrees to the plan agrees to that. It writes nothing if there is no such object.
func Follows(w io.Writer, p *plan.Plan) {
	if ids := p.Follows(); len(ids) > 0 {
		note(w, "deletes %s if other controllers remove their finalizers meanwhile: %s",
			phrase.Count(len(ids), "more object"), sortedFew(KindNamesOf(p.Graph, ids)))
	}
}

// mostLeftovers is how many objects that are left are named.
const mostLeftovers = 20

// Leftovers writes what a run leaves to others, a line for each object. What is known of finalizers
// may be nothing.
func Leftovers(w io.Writer, g *graph.Graph, left []plan.ObjectReason, known *finalizer.Registry) {
	for i, l := range left {
		if i == mostLeftovers {
			note(w, "and %d more are left", len(left)-mostLeftovers)
			return
		}
		note(w, "left: %s: %s", Quoted(g.Ref(l.Object)), LeftBecause(g, l, known))
	}
}

// LeftBecause says why an object is left, with the finalizers of others on it and whose they are.
func LeftBecause(g *graph.Graph, l plan.ObjectReason, known *finalizer.Registry) string {
	if l.Because.Code != plan.ForeignFinalizers {
		return l.Because.Sentence(g, l.Object)
	}
	return FinalizersOf(g.Ref(l.Object), plan.Foreign(g.Finalizers(l.Object)), known)
}

// ActionLine words one write as kubectl would, with the reason.
func ActionLine(a plan.Write) string {
	because := a.Because.Sentence(a.Cause)
	object := Quoted(a.Object)
	switch a.Verb {
	case plan.VerbDelete:
		line := deletedFrom(a.Object)
		if len(a.RemainingFinalizers) > 0 {
			line = object + " is being deleted"
		}
		if a.Policy != plan.Background {
			line += " (" + strings.ToLower(string(a.Policy)) + ")"
		}
		return line + ": " + because
	case plan.VerbOrphan:
		return fmt.Sprintf("%s: %s removed: %s", object, phrase.Count(len(a.Owners), "owner reference"), because)
	case plan.VerbUnblock:
		return fmt.Sprintf("%s: blockOwnerDeletion set to false on %s: %s", object, phrase.Count(len(a.Owners), "reference"),
			because)
	case plan.VerbRemoveFinalizer:
		return fmt.Sprintf("%s: finalizer %s removed: %s", object, Escape(strings.Join(a.Finalizers, ", ")), because)
	}
	return fmt.Sprintf("%s: %s", object, a.Verb)
}
