package diagnose

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// blame is an actor and an object that has its finalizer.
type blame struct {
	actor.Actor
	o *unstructured.Unstructured
	// who names the actor, for use in a sentence.
	who string
}

// blameOf is for an actor of a finalizer of an object.
func blameOf(o *unstructured.Unstructured, a actor.Actor) blame {
	return blame{Actor: a, o: o, who: whoever(a)}
}

// outside says that the actor normally runs outside the cluster.
func (b blame) outside() bool { return b.Outside || b.IsKnown && b.Known.Alive.Outside }

// honoured says what the actor does once it is at work, as a sentence with a space in front: it does so as soon as it is started, resumed or let.
func (b blame) honoured() string {
	if !b.IsKnown {
		return ""
	}
	s := " " + phrase.Sentence(b.Known.OnCompletion())
	if b.Known.Polarity == finalizer.Guard && b.Known.Before != "" { // what uses it is what is in the way
		s += " " + phrase.Sentence(b.Known.Before)
	}
	return s
}

// destroys says whether honouring the finalizer deletes what removing it keeps.
func (b blame) destroys() bool { return b.IsKnown && b.Known.Polarity == finalizer.OptInDestructive }

// losesData says whether a step loses data.
func (b blame) losesData() bool {
	return b.destroys() || b.IsKnown && b.Known.Risk == finalizer.DataLoss
}

// honouring is what a step puts at risk that sets the actor to work.
func (b blame) honouring() finalizer.Risk {
	switch {
	case b.destroys():
		return finalizer.DataLoss
	case b.IsKnown:
		return finalizer.RiskNone
	}
	return ""
}

// cost says what removing the finalizer by hand costs, what to do before, and the setting with which the actor itself keeps what it would delete.
func (b blame) cost() string {
	return b.loss() + b.keeping()
}

// keeping names that setting, as a sentence with a space in front. What protects the object is a step of its own.
func (b blame) keeping() string {
	if !b.IsKnown || b.Known.Knob == "" || len(b.Known.Protect) > 0 {
		return ""
	}
	return " " + phrase.Sentence("to keep things instead, set "+b.Known.Knob)
}

// loss says what removing the finalizer by hand costs, and what to do before.
func (b blame) loss() string {
	if !b.IsKnown {
		return "It is unknown what is lost when the finalizer is removed."
	}
	s := phrase.Sentence(b.Known.OnRemoval())
	if b.Known.Before != "" && b.Known.Polarity != finalizer.Guard {
		s += " Before that: " + phrase.Sentence(b.Known.Before)
	}
	return s
}

// protection are the steps that the packs want to be taken before anything else.
func (b blame) protection() []step {
	var all []step
	for _, p := range b.Known.Protect {
		s := step{write: func(o v1alpha1.ObjectRef) string { return p.For(graph.Ref(o).QualifiedResource(), o.Namespace, o.Name) }}
		all = append(all, s.doing(p.Does).risking(finalizer.RiskNone))
	}
	return all
}

// removal is the command that removes the finalizer. Unless somebody has seen that its actor cannot, or nothing is lost, it has to be forced.
func (b blame) removal() step {
	if !b.IsKnown {
		return remove(b.Finalizer, "--force").doing("removes the finalizer; it is unknown what is lost")
	}
	s := remove(b.Finalizer)
	heavy := b.Known.Risk == finalizer.DataLoss || b.Known.Risk == finalizer.BreaksCluster
	if heavy || b.outside() || b.Life == actor.Alive || b.Life != actor.Dead && b.Known.Consequential() {
		s = remove(b.Finalizer, "--force")
	}
	return s.doing("removes the finalizer by hand: " + b.Known.IfRemoved).risking(b.Known.Risk)
}

// ordered returns the steps of a cure, the safest first: what protects data, then what sets the actor to work, and at last what removes the finalizer;
// where the actor destroys what removing the finalizer keeps, it is the other way round.
func (b blame) ordered(steps []step) []step {
	if b.destroys() && b.Life == actor.Dead {
		return slices.Concat(b.protection(), []step{b.removal()}, steps)
	}
	return slices.Concat(b.protection(), steps, []step{b.removal()})
}

// remove is the command that removes a finalizer of an object.
func remove(name string, flags ...string) step {
	s := command(append([]string{"kubectl", "gc", "unfinalize", "OBJECT", "--finalizer", name}, flags...)...)
	s.removes = true
	return s
}

// byHand is the step that removes a finalizer of an object without its actor.
func (e *core) byHand(o *unstructured.Unstructured, a actor.Actor) step {
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
