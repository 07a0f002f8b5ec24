package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// withoutRemoval takes the commands that remove a finalizer out of what is said of its actor, since
// nobody knows what would stay: that can be in gaps.
func withoutRemoval(own []core.Finding, name string, gaps []v1alpha1.Gap) []core.Finding {
	return core.Each(own, func(f *core.Finding) {
		if f.Finalizer == name {
			f.Evidence = slices.Concat(f.Evidence, core.Observed(actor.GapClauses(gaps...)...))
			f.Commands = slices.DeleteFunc(slices.Clone(f.Commands), func(s core.Step) bool { return s.Removes })
		}
	})
}

// leaving adds to what is said of an actor which objects it deletes, and that they stay if its
// finalizer is removed by hand: not those that it does not wait for and that are being deleted.
func (e *linked) leaving(id graph.ID, name string, own []core.Finding) []core.Finding {
	sent := func(end graph.ID) bool { return e.Graph.DeletionTimestamp(end) != 0 }
	ends := append(e.awaitedBy(id, name), slices.DeleteFunc(e.linkedBy(id, name, false), sent)...)
	slices.Sort(ends)
	ends = slices.Compact(ends)
	if len(ends) == 0 {
		return own
	}
	known, _ := e.knownOf(id, name)
	return core.Each(own, func(f *core.Finding) {
		if f.Finalizer == name {
			*f = e.leavingBehind(*f, id, ends, known.Polarity == finalizer.OptInDestructive)
		}
	})
}

// leavingBehind adds to a finding at an object which objects stay if the finalizer is removed by
// hand and, unless that is what people want, how to delete them before: those of them that confirm
// the link.
func (e *linked) leavingBehind(f core.Finding, id graph.ID, ends []graph.ID, wanted bool) core.Finding {
	stay := e.stays(ends)
	f.Observe("%s still %s, and %s deletion is what the finalizer is for",
		e.andNamed(ends), phrase.Plural(len(ends), "exists", "exist"), phrase.Plural(len(ends), "its", "their"))
	if f.Cost != "" {
		f.Cost += " "
	}
	f.Cost += phrase.Sentence(stay)
	var steps []core.Step
	for _, s := range f.Commands {
		if s.Removes {
			if !wanted {
				steps = append(steps, e.deleteFirst(slices.DeleteFunc(slices.Clone(ends),
					func(end graph.ID) bool { return !e.concerned(id, end) }))...)
			}
			s.Does += "; " + stay
		}
		steps = append(steps, s)
	}
	f.Commands = steps
	return f
}

// stays says what becomes of objects whose deletion the actor of a finalizer sees to, if the
// finalizer is removed by hand.
func (e *linked) stays(ends []graph.ID) string {
	var clauses []string
	deleting := func(id graph.ID) bool { return e.Graph.DeletionTimestamp(id) != 0 }
	if alive := slices.DeleteFunc(slices.Clone(ends), deleting); len(alive) > 0 {
		clauses = append(clauses, fmt.Sprintf("%s %s, and nobody deletes %s then", e.andNamed(alive),
			phrase.Plural(len(alive), "stays", "stay"), phrase.Plural(len(alive), "it", "them")))
	}
	if going := slices.DeleteFunc(slices.Clone(ends), func(id graph.ID) bool { return !deleting(id) }); len(going) > 0 {
		clauses = append(clauses, fmt.Sprintf("%s %s still being deleted then", e.andNamed(going),
			phrase.Plural(len(going), "is", "are")))
	}
	return strings.Join(clauses, ", and ")
}

// andNamed names objects in a list.
func (e *linked) andNamed(ids []graph.ID) string {
	return phrase.And(phrase.Words(ids, e.Placed))
}

// deleteFirst are the commands that delete what would stay, where nobody has.
func (e *linked) deleteFirst(ends []graph.ID) []core.Step {
	var steps []core.Step
	for _, end := range ends {
		if len(steps) < phrase.MaxNamed && e.Graph.DeletionTimestamp(end) == 0 {
			s := core.Command("kubectl", "gc", "delete",
				"OBJECT").Doing("deletes what would stay, after showing what is deleted with it")
			steps = append(steps, core.At(e.Graph.Ref(end), s))
		}
	}
	return steps
}
