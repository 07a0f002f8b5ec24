package core

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// WithEvidence adds what was seen to findings of a finalizer.
func WithEvidence(findings []Finding, evidence ...v1alpha1.Observation) []Finding {
	out := slices.Clone(findings)
	for i := range out {
		if out[i].Finalizer != "" {
			out[i].Evidence = append(slices.Clone(evidence), out[i].Evidence...)
		}
	}
	return out
}

// Later puts findings behind what has to be cured before.
func Later(findings []Finding) []Finding {
	out := slices.Clone(findings)
	for i := range out {
		out[i].After++
	}
	return out
}

// WithNote adds a clause to the evidence of findings.
func WithNote(findings []Finding, says string) []Finding {
	out := slices.Clone(findings)
	for i := range out {
		out[i].Evidence = append(slices.Clone(out[i].Evidence), Observed(says)...)
	}
	return out
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

// WithEvidenceBehind adds what was seen to the last of what was seen before.
func WithEvidenceBehind(findings []Finding, evidence []v1alpha1.Observation) []Finding {
	out := slices.Clone(findings)
	for i := range out {
		out[i].Evidence = append(out[i].Evidence[:len(out[i].Evidence):len(out[i].Evidence)], evidence...)
	}
	return out
}

// Awaited puts what an actor is proven to wait for in the place of the finding that it lives. One that does not live is a cause besides.
func Awaited(own, by []Finding) []Finding {
	lives := func(f Finding) bool { return f.Code == FinalizerActorAlive }
	rest := slices.DeleteFunc(slices.Clone(by), lives)
	return append(Taken(own, slices.DeleteFunc(slices.Clone(by), func(f Finding) bool { return !lives(f) })), rest...)
}
