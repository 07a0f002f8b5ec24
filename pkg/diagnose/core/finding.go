package core

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Finding is a cause as it was found at one object.
type Finding struct {
	Code Code
	// About is what the cause lies in; nil if it is the object that was looked at. What is found at
	// one object then holds for others that are like it.
	About     *v1alpha1.ObjectRef
	Finalizer string
	Actor     string
	Evidence  []v1alpha1.Observation
	// Sentence is what the cause is, if more is known than what the code means.
	Sentence string
	// Remedy is what to do, if that is not what is usual for the code, and Args what stands for the
	// words in braces there.
	Remedy string
	Args   []string
	// Cost is what removing the finalizer by hand costs, in sentences, and DataLoss that data is
	// destroyed by a step or by what follows.
	Cost     string
	DataLoss bool
	// Commands cure it at an object, the safest first.
	Commands []Step
	// told is how many more objects the evidence is of, and unsaid of how many it is not.
	told, unsaid int
	// Guards says that a program keeps an object of Kubernetes' own type while it needs it.
	Guards bool
	// Warned says that a warning is all that the cause is known by.
	Warned bool
	// After is behind how many others it comes up, each of which has to be cured before.
	After int
	// Users are objects that are being deleted, and with which the cause goes.
	Users []graph.ID
	// Moves is what moves if whoever has to act does; nil if the cause does not depend on that.
	Moves *Movement
	// Via leads from the object that was asked about to the one that was looked at.
	Via []graph.Ref
	At  graph.Ref
}

// Key is the same for findings of one cause.
func (f Finding) Key() string {
	o := f.Object()
	return strings.Join([]string{string(f.Code), o.UID, o.APIVersion, o.Kind, o.Namespace, o.Name, f.Finalizer}, "\x00")
}

// Object is what the cause lies in.
func (f Finding) Object() v1alpha1.ObjectRef {
	if f.About != nil {
		return *f.About
	}
	return f.At
}

// Observe adds a clause to the evidence.
func (f *Finding) Observe(format string, args ...any) {
	f.Evidence = slices.Concat(f.Evidence, Seen(format, args...))
}

// Printed is a finding as it is printed.
func (f Finding) Printed() v1alpha1.Cause {
	c := v1alpha1.Cause{
		Code: string(f.Code), Object: f.Object(), Finalizer: f.Finalizer, Actor: f.Actor,
		Summary: f.summary(), Evidence: []string{}, Observations: f.observations(), Remedy: f.Usual(),
		Cost: f.Cost, DataLoss: f.DataLoss, Commands: []string{},
	}
	for _, o := range c.Observations {
		c.Evidence = append(c.Evidence, o.Says)
	}
	for i, ref := range f.Via {
		if i > 0 && (ref != f.At || f.About != nil) { // neither the stuck object nor that of the cause
			c.Via = append(c.Via, ref)
		}
	}
	for _, s := range f.lookFirst() {
		line := s.Write(c.Object)
		if line == "" || slices.Contains(c.Commands, line) {
			continue
		}
		c.Commands = append(c.Commands, line)
		c.Steps = append(c.Steps, v1alpha1.Step{Command: line, Does: s.Does, Risk: string(s.risk)})
	}
	return c
}

// lookFirst are the commands, of which the first harms nothing.
func (f Finding) lookFirst() []Step {
	if len(f.Commands) == 0 || !f.Commands[0].harms() {
		return f.Commands
	}
	look := Describe().Safely("shows it, before anything is changed")
	return append([]Step{look}, f.Commands...)
}

// observations are the evidence, each clause once.
func (f Finding) observations() []v1alpha1.Observation {
	var all []v1alpha1.Observation
	for _, o := range f.Evidence {
		if !says(all, o) {
			all = append(all, o)
		}
	}
	if f.unsaid > 0 {
		all = append(all, Seen("and the like of %s more", phrase.Count(f.unsaid, "object"))...)
	}
	return all
}

// says reports whether a clause is among others.
func says(all []v1alpha1.Observation, o v1alpha1.Observation) bool {
	return slices.ContainsFunc(all, func(s v1alpha1.Observation) bool { return s.Says == o.Says })
}

// Distinct leaves out what is found on several ways; the first, which is the shortest or as short,
// stays. What was seen at several objects, and what cures it there, is said of a few.
func Distinct(findings []Finding) []Finding {
	var out []Finding
	at := map[string]int{}
	for _, f := range findings {
		i, seen := at[f.Key()]
		if !seen {
			at[f.Key()] = len(out)
			out = append(out, f)
			continue
		}
		out[i] = merged(out[i], f)
	}
	return out
}

// merged adds to a finding what another of the same cause says besides.
func merged(f, other Finding) Finding {
	var more []v1alpha1.Observation
	for _, o := range other.Evidence {
		if !says(f.Evidence, o) {
			more = append(more, o)
		}
	}
	switch {
	case len(more) > 0 && f.told < phrase.MaxNamed-1:
		f.Evidence = append(slices.Clone(f.Evidence), more...)
		f.told++
	case len(more) > 0:
		f.unsaid++
	}
	f.Commands = joined(f, other)
	f.After, f.DataLoss = min(f.After, other.After), f.DataLoss || other.DataLoss
	return f
}

// joined returns the commands of one finding, and those of another of the same cause that are
// different.
func joined(f, other Finding) []Step {
	more := f.Without(slices.Clone(other.Commands))
	return slices.Concat(f.Commands, more[:max(0, min(len(more), phrase.MaxNamed-len(f.Commands)))])
}

// Without leaves out the steps that the finding has already.
func (f Finding) Without(steps []Step) []Step {
	return slices.DeleteFunc(steps, func(s Step) bool {
		return slices.ContainsFunc(f.Commands, func(own Step) bool { return own.Write(f.Object()) == s.Write(f.Object()) })
	})
}

// InOrder compares causes by the order in which they come up.
func InOrder(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.After, b.After), cmp.Compare(byCode[a.Code].Rank, byCode[b.Code].Rank))
}

// TellingFirst joins what was found of the finalizers of an object, or of objects that do not depend
// on each other: what is said of somebody who is not known comes later, then what only guards the
// object for others, and last that of which no more is known than whether somebody is alive.
func TellingFirst(each [][]Finding) []Finding {
	vague := func(all []Finding) (least int) {
		least = 3
		for _, f := range all {
			switch {
			case f.Sentence == "" && (f.Code == FinalizerActorAlive || f.Code == FinalizerActorUnknown):
			case f.Guards:
				least = min(least, 2)
			case f.Code == FinalizerActorUnknown:
				least = min(least, 1)
			default:
				least = 0
			}
		}
		return least
	}
	slices.SortStableFunc(each, func(a, b []Finding) int { return cmp.Compare(vague(a), vague(b)) })
	return slices.Concat(each...)
}

// Movement are objects to which something happens if whoever has to act does: an owner and its
// dependents, or a namespace and what is in it.
type Movement struct {
	Of  graph.ID
	IDs []graph.ID
	// Gone says that the owner or the namespace does not exist any more, Moved how many of the
	// others have been deleted or orphaned since the snapshot, and Unread that not all could be
	// read again.
	Gone   bool
	Moved  int
	Unread bool
}
