package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// finding is a cause as it was found at one object.
type finding struct {
	code Code
	// about is what the cause lies in; nil if it is the object that was looked at. What is found at one object then holds for others that are like it.
	about     *v1alpha1.ObjectRef
	finalizer string
	actor     string
	evidence  []v1alpha1.Observation
	remedy    string
	// cost is what removing the finalizer by hand costs, in sentences, and dataLoss that data is destroyed by a step or by what follows.
	cost     string
	dataLoss bool
	// commands cure it at an object, the safest first.
	commands []step
	// told is how many more objects the evidence is of, and unsaid of how many it is not.
	told, unsaid int
	// after is behind how many others it comes up, each of which has to be cured before.
	after int
	// users are objects that are being deleted, and with which the cause goes.
	users []graph.ID
	// moves is what moves if whoever has to act does; nil if the cause does not depend on that.
	moves *movement
	// via leads from the object that was asked about to the one that was looked at.
	via []graph.Ref
	at  graph.Ref
}

// key is the same for findings of one cause.
func (f finding) key() string {
	o := f.object()
	return strings.Join([]string{string(f.code), o.UID, o.APIVersion, o.Kind, o.Namespace, o.Name, f.finalizer}, "\x00")
}

func (f finding) object() v1alpha1.ObjectRef {
	if f.about != nil {
		return *f.about
	}
	return v1alpha1.ObjectRef(f.at)
}

// found places findings at an object, unless they were made at another already.
func found(at graph.Ref, findings ...finding) []finding {
	out := slices.Clone(findings)
	for i := range out {
		if out[i].at == (graph.Ref{}) {
			out[i].at = at
		}
	}
	return out
}

// behind puts an object in front of findings that were made at what it waits for.
func behind(ref graph.Ref, findings []finding) []finding {
	out := slices.Clone(findings)
	for i := range out {
		out[i].via = append([]graph.Ref{ref}, out[i].via...)
	}
	return out
}

// cause is a finding as it is printed.
func (f finding) cause() v1alpha1.Cause {
	c := v1alpha1.Cause{
		Code: string(f.code), Object: f.object(), Finalizer: f.finalizer, Actor: f.actor,
		Summary: f.summary(), Evidence: []string{}, Observations: f.observations(), Remedy: cmp.Or(f.remedy, byCode[f.code].Remedy), Cost: f.cost, DataLoss: f.dataLoss, Commands: []string{},
	}
	for _, o := range c.Observations {
		c.Evidence = append(c.Evidence, o.Says)
	}
	for i, ref := range f.via {
		if i > 0 && (ref != f.at || f.about != nil) { // neither the stuck object nor that of the cause
			c.Via = append(c.Via, v1alpha1.ObjectRef(ref))
		}
	}
	for _, s := range f.commands {
		line := s.write(c.Object)
		if line == "" || slices.Contains(c.Commands, line) {
			continue
		}
		c.Commands = append(c.Commands, line)
		c.Steps = append(c.Steps, v1alpha1.Step{Command: line, Does: s.does, Risk: string(s.risk)})
	}
	return c
}

// observations are the evidence, each clause once.
func (f finding) observations() []v1alpha1.Observation {
	var all []v1alpha1.Observation
	for _, o := range f.evidence {
		if !says(all, o) {
			all = append(all, o)
		}
	}
	if f.unsaid > 0 {
		all = append(all, observed(fmt.Sprintf("and the like of %s more", phrase.Count(f.unsaid, "object")))...)
	}
	return all
}

// says says whether a clause is among others.
func says(all []v1alpha1.Observation, o v1alpha1.Observation) bool {
	return slices.ContainsFunc(all, func(s v1alpha1.Observation) bool { return s.Says == o.Says })
}

// distinct leaves out what is found on several ways; the first, which is the shortest or as short, stays. What was seen at several objects, and what cures it
// there, is said of a few.
func distinct(findings []finding) []finding {
	var out []finding
	at := map[string]int{}
	for _, f := range findings {
		i, seen := at[f.key()]
		if !seen {
			at[f.key()] = len(out)
			out = append(out, f)
			continue
		}
		out[i] = merged(out[i], f)
	}
	return out
}

// merged adds to a finding what another of the same cause says besides.
func merged(f, other finding) finding {
	var more []v1alpha1.Observation
	for _, o := range other.evidence {
		if !says(f.evidence, o) {
			more = append(more, o)
		}
	}
	switch {
	case len(more) > 0 && f.told < phrase.MaxNamed-1:
		f.evidence = append(slices.Clone(f.evidence), more...)
		f.told++
	case len(more) > 0:
		f.unsaid++
	}
	f.commands = joined(f, other)
	f.after, f.dataLoss = min(f.after, other.after), f.dataLoss || other.dataLoss
	return f
}

// joined returns the commands of one finding, and those of another of the same cause that are different.
func joined(f, other finding) []step {
	all, seen := slices.Clone(f.commands), map[string]bool{}
	for _, s := range f.commands {
		seen[s.write(f.object())] = true
	}
	for _, s := range other.commands {
		if len(all) < phrase.MaxNamed && !seen[s.write(f.object())] {
			all = append(all, s)
		}
	}
	return all
}

// inOrder compares causes by the order in which they come up.
func inOrder(a, b finding) int {
	return cmp.Or(cmp.Compare(a.after, b.after), cmp.Compare(byCode[a.code].Rank, byCode[b.code].Rank))
}
