package core

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Each returns findings with a change to each of them.
func Each(findings []Finding, change func(*Finding)) []Finding {
	out := slices.Clone(findings)
	for i := range out {
		change(&out[i])
	}
	return out
}

// Found places findings at an object, unless they were made at another already.
func Found(at graph.Ref, findings ...Finding) []Finding {
	return Each(findings, func(f *Finding) {
		if f.At == (graph.Ref{}) {
			f.At = at
		}
	})
}

// Behind puts an object in front of findings that were made at what it waits for.
func Behind(ref graph.Ref, findings []Finding) []Finding {
	return Each(findings, func(f *Finding) { f.Via = append([]graph.Ref{ref}, f.Via...) })
}

// WithEvidence adds what was seen to findings of a finalizer.
func WithEvidence(findings []Finding, evidence ...v1alpha1.Observation) []Finding {
	return Each(findings, func(f *Finding) {
		if f.Finalizer != "" {
			f.Evidence = slices.Concat(evidence, f.Evidence)
		}
	})
}

// WithEvidenceBehind adds what was seen to the last of what was seen before.
func WithEvidenceBehind(findings []Finding, evidence ...v1alpha1.Observation) []Finding {
	return Each(findings, func(f *Finding) { f.Evidence = slices.Concat(f.Evidence, evidence) })
}

// Later puts findings behind what has to be cured before.
func Later(findings []Finding) []Finding {
	return Each(findings, func(f *Finding) { f.After++ })
}

// Taken gives the first of some findings the evidence of others whose place they take.
func Taken(findings, from []Finding) []Finding {
	var seen []v1alpha1.Observation
	for _, f := range from {
		if f.Code == FinalizerActorAlive || f.Finalizer != "" {
			seen = append(seen, f.Evidence...)
		}
	}
	for _, o := range findings[0].Evidence {
		seen = slices.DeleteFunc(seen, func(s v1alpha1.Observation) bool { return s.Says == o.Says })
	}
	findings[0].Evidence = append(seen, findings[0].Evidence...)
	return findings
}

// Awaited puts what an actor is proven to wait for in the place of the finding that it lives. One
// that does not live is a cause besides.
func Awaited(own, by []Finding) []Finding {
	lives := func(f Finding) bool { return f.Code == FinalizerActorAlive }
	rest := slices.DeleteFunc(slices.Clone(by), lives)
	return append(Taken(own, slices.DeleteFunc(slices.Clone(by), func(f Finding) bool { return !lives(f) })), rest...)
}

// Observed are clauses that were read at the object in which the cause lies.
func Observed(says ...string) []v1alpha1.Observation {
	all := make([]v1alpha1.Observation, len(says))
	for i, s := range says {
		all[i].Says = s
	}
	return all
}

// Seen is one clause that was read there.
func Seen(format string, args ...any) []v1alpha1.Observation {
	return Observed(fmt.Sprintf(format, args...))
}

// ObservedAt are clauses that were read somewhere else: an object, with the field if there is one.
func ObservedAt(from string, says ...string) []v1alpha1.Observation {
	all := Observed(says...)
	for i := range all {
		all[i].From = from
	}
	return all
}
