package diagnose

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// withoutRemoval takes the commands that remove a finalizer out of what is said of its actor, since nobody knows what would stay.
func withoutRemoval(own []finding, name string) []finding {
	out := slices.Clone(own)
	for i, f := range out {
		if f.finalizer == name {
			out[i].commands = slices.DeleteFunc(slices.Clone(f.commands), func(s step) bool { return s.removes })
		}
	}
	return out
}

// leaving adds to what is said of an actor which objects it waits for, and that they stay if its finalizer is removed by hand.
func (e *examiner) leaving(id graph.ID, name string, ends []graph.ID, own []finding) []finding {
	if len(ends) == 0 {
		return own
	}
	known, _ := e.knownOf(id, name)
	out := slices.Clone(own)
	for i, f := range out {
		if f.finalizer == name {
			out[i] = e.leavingBehind(f, ends, known.Polarity == finalizer.OptInDestructive)
		}
	}
	return out
}

// leavingBehind adds to a finding which objects stay if the finalizer is removed by hand and, unless that is what people want, how to delete them before.
func (e *examiner) leavingBehind(f finding, ends []graph.ID, wanted bool) finding {
	all := make([]string, len(ends))
	for i, end := range ends {
		all[i] = e.Graph.Ref(end).Located()
	}
	names, it := phrase.And(all), phrase.Plural(len(ends), "it", "them")
	exist := fmt.Sprintf("%s still %s, and the finalizer stays until %s deleted", names, phrase.Plural(len(ends), "exists", "exist"), phrase.Plural(len(ends), "it is", "they are"))
	stay := fmt.Sprintf("%s %s, and nobody deletes %s then", names, phrase.Plural(len(ends), "stays", "stay"), it)
	f.evidence = append(slices.Clone(f.evidence), observed(exist)...)
	if f.cost != "" {
		f.cost += " "
	}
	f.cost += phrase.Sentence(stay)
	var steps []step
	for _, s := range f.commands {
		if s.removes {
			if !wanted {
				steps = append(steps, e.deleteFirst(ends)...)
			}
			s.does += "; " + stay
		}
		steps = append(steps, s)
	}
	f.commands = steps
	return f
}

// deleteFirst are the commands that delete what would stay, where nobody has.
func (e *examiner) deleteFirst(ends []graph.ID) []step {
	var steps []step
	for _, end := range ends {
		if len(steps) < phrase.MaxNamed && e.Graph.DeletionTimestamp(end) == 0 {
			s := command("kubectl", "gc", "delete", "OBJECT").doing("deletes what would stay, after showing what is deleted with it")
			steps = append(steps, at(v1alpha1.ObjectRef(e.Graph.Ref(end)), s))
		}
	}
	return steps
}
