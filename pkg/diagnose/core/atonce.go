package core

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// AtOnce has findings that differ only in which finalizer of one object they are about remove all
// of these with one command.
func AtOnce(findings []Finding) []Finding {
	out := slices.Clone(findings)
	for i, f := range findings {
		var names []string
		for _, o := range findings {
			if f.isLike(o) {
				names = append(names, o.Finalizer)
			}
		}
		if len(names) < 2 {
			continue
		}
		out[i].Commands = slices.Clone(f.Commands)
		for j, s := range f.Commands {
			out[i].Commands[j] = s.removing(f.Finalizer, names)
		}
	}
	return out
}

// isLike reports whether another finding says the same of a finalizer of the same object.
func (f Finding) isLike(o Finding) bool {
	return f.Finalizer != "" && o.Finalizer != "" && f.Code == o.Code && f.At == o.At && f.Object() == o.Object() &&
		f.Actor == o.Actor && f.After == o.After && f.Cost == o.Cost && f.summary() == o.summary() &&
		f.Usual() == o.Usual() &&
		slices.Equal(f.Evidence, o.Evidence) && slices.Equal(f.lines(), o.lines())
}

// lines are the commands of a finding, without the finalizer that they remove.
func (f Finding) lines() []string {
	return phrase.Words(f.Commands, func(s Step) string { return s.removing(f.Finalizer, nil).Write(f.Object()) })
}

// removing is a step that removes other finalizers instead of one, if it removes that.
func (s Step) removing(name string, others []string) Step {
	if write := s.Write; s.Removes {
		s.Write = func(o v1alpha1.ObjectRef) string { return strings.Replace(write(o), flags(name), flags(others...), 1) }
	}
	return s
}

// flags are how a command names finalizers that it removes.
func flags(names ...string) string {
	var words []string
	for _, name := range names {
		words = append(words, "--finalizer", name)
	}
	return phrase.Command(words...)
}
