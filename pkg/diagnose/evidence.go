package diagnose

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// withEvidence adds what was seen to findings of a finalizer.
func withEvidence(findings []finding, evidence ...v1alpha1.Observation) []finding {
	out := slices.Clone(findings)
	for i := range out {
		if out[i].finalizer != "" {
			out[i].evidence = append(slices.Clone(evidence), out[i].evidence...)
		}
	}
	return out
}

// later puts findings behind what has to be cured before.
func later(findings []finding) []finding {
	out := slices.Clone(findings)
	for i := range out {
		out[i].after++
	}
	return out
}

// withNote adds a clause to the evidence of findings.
func withNote(findings []finding, says string) []finding {
	out := slices.Clone(findings)
	for i := range out {
		out[i].evidence = append(slices.Clone(out[i].evidence), observed(says)...)
	}
	return out
}

// taken gives the first of some findings the evidence of others whose place they take.
func taken(findings, from []finding) []finding {
	var seen []v1alpha1.Observation
	for _, f := range from {
		if f.code == FinalizerActorAlive || f.finalizer != "" {
			seen = append(seen, f.evidence...)
		}
	}
	for _, o := range findings[0].evidence {
		seen = slices.DeleteFunc(seen, func(s v1alpha1.Observation) bool { return s.Says == o.Says })
	}
	findings[0].evidence = append(seen, findings[0].evidence...)
	return findings
}

// withEvidenceBehind adds what was seen to the last of what was seen before.
func withEvidenceBehind(findings []finding, evidence []v1alpha1.Observation) []finding {
	out := slices.Clone(findings)
	for i := range out {
		out[i].evidence = append(out[i].evidence[:len(out[i].evidence):len(out[i].evidence)], evidence...)
	}
	return out
}

// awaited puts what an actor is proven to wait for in the place of the finding that it lives. One that does not live is a cause besides.
func awaited(own, by []finding) []finding {
	lives := func(f finding) bool { return f.code == FinalizerActorAlive }
	rest := slices.DeleteFunc(slices.Clone(by), lives)
	return append(taken(own, slices.DeleteFunc(slices.Clone(by), func(f finding) bool { return !lives(f) })), rest...)
}
