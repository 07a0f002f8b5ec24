package diagnose

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// because returns why a finalizer is still on an object that was read whole: that its parent is gone, what its actor lacks, what uses the object, and who
// the actor is. An actor that lives is no cause of its own where it is proven what it waits for.
func (e *examiner) because(ctx context.Context, o *unstructured.Unstructured, name string, refused []finding) []finding {
	by := e.actor(ctx, o, name, refused)
	a, err := e.actors.Of(ctx, o, name)
	if err != nil {
		return by // the context has ended
	}
	if f, orphaned := e.orphaned(ctx, o, a); orphaned {
		return append(taken([]finding{f}, by), refused...)
	}
	var own []finding
	proven := false
	if len(refused) == 0 && o.GetDeletionTimestamp() != nil {
		not, suspects := e.refusedToActor(ctx, o, a)
		own, proven = not, len(not) > 0
		by = withEvidenceBehind(by, suspects)
		for _, f := range e.quotedDenials(ctx, o) {
			if !blamed(own, *f.about) {
				own = append(own, f)
			}
		}
	}
	for _, l := range e.lacks(ctx, o, a) {
		own = append(own, e.dependencyMissing(ctx, o, a, l))
		proven = proven || l.proven
	}
	if f, used := e.used(ctx, o, a); used {
		own, proven = append(own, f), true
	}
	if said, used := e.saysInUse(o, a); used && !proven {
		own, proven = append(own, said), true
	}
	if !proven {
		return append(own, by...)
	}
	return awaited(own, by)
}

// awaited puts what an actor is proven to wait for in the place of the finding that it lives. One that does not live is a cause besides.
func awaited(own, by []finding) []finding {
	lives := func(f finding) bool { return f.code == FinalizerActorAlive }
	rest := slices.DeleteFunc(slices.Clone(by), lives)
	return append(taken(own, slices.DeleteFunc(slices.Clone(by), func(f finding) bool { return !lives(f) })), rest...)
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

// byHand is the step that removes a finalizer of an object without its actor.
func (e *examiner) byHand(o *unstructured.Unstructured, a actor.Actor) step {
	return at(e.ref(o), blameOf(o, a).removal())
}

// whoever names an actor, also one that nobody can name.
func whoever(a actor.Actor) string {
	if a.Who == "" {
		return "whoever removes it"
	}
	return a.Who
}

// cost is what removing a finalizer by hand costs, in sentences.
func cost(a actor.Actor) string { return blameOf(nil, a).cost() }
