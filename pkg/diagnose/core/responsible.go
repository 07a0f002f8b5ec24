package core

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Responsible is an actor and an object that has its finalizer.
type Responsible struct {
	actor.Actor
	Object *unstructured.Unstructured
	// Name names the actor, for use in a sentence.
	Name string
}

// ResponsibleFor is for an actor of a finalizer of an object.
func ResponsibleFor(o *unstructured.Unstructured, a actor.Actor) Responsible {
	return Responsible{Actor: a, Object: o, Name: Whoever(a)}
}

// RunsOutside says that the actor normally runs outside the cluster.
func (b Responsible) RunsOutside() bool { return b.Outside || b.IsKnown && b.Known.Alive.Outside }

// Idles says that the object tells the actor to ignore it, or to delete nothing, so that to start the
// actor deletes nothing of it. That others heed a field is no proof that this one does.
func (b Responsible) Idles() bool {
	return b.Actor.Idles != "" || slices.ContainsFunc(b.Pauses, func(p actor.Pause) bool { return !p.Custom })
}

// OnceStarted is OnceRunning for an actor that is started again, without more.
func (b Responsible) OnceStarted() string {
	if !b.Idles() {
		return b.OnceRunning()
	}
	return " " + phrase.Sentence(b.Name+" deletes nothing of it as long as the object is as it is")
}

// OnceRunning says what the actor does once it is at work, as a sentence with a space in front: it
// does so as soon as it is started, resumed or let.
func (b Responsible) OnceRunning() string {
	if !b.IsKnown {
		return ""
	}
	s := " " + phrase.Sentence(b.Known.OnCompletion())
	if b.Known.Polarity == finalizer.Guard && b.Known.Before != "" { // what uses it is what is in the way
		s += " " + phrase.Sentence(b.Known.Before)
	}
	return s
}

// Then says what the actor does once it works on the object, as the end of a clause.
func (b Responsible) Then() string {
	if !b.IsKnown {
		return ""
	}
	return ": " + b.Known.Who() + " " + b.Known.Does
}

// Destroys reports whether honouring the finalizer deletes what removing it keeps.
func (b Responsible) Destroys() bool {
	return b.IsKnown && b.Known.Polarity == finalizer.OptInDestructive
}

// LosesData reports whether a step loses data.
func (b Responsible) LosesData() bool {
	return b.Destroys() && !(b.Life == actor.Dead && b.Idles()) || b.IsKnown && b.Known.Risk == finalizer.DataLoss
}

// RiskOnceRunning is what a step puts at risk that sets the actor to work.
func (b Responsible) RiskOnceRunning() finalizer.Risk {
	switch {
	case b.Destroys():
		return finalizer.DataLoss
	case b.IsKnown:
		return finalizer.RiskNone
	}
	return ""
}

// RiskOnceStarted is RiskOnceRunning for a step that starts the actor, without more.
func (b Responsible) RiskOnceStarted() finalizer.Risk {
	if b.Idles() {
		return finalizer.RiskNone
	}
	return b.RiskOnceRunning()
}

// Cost says what removing the finalizer by hand costs, what to do before, and the setting with
// which the actor itself keeps what it would delete.
func (b Responsible) Cost() string {
	return b.Loss() + b.keeping()
}

// keeping names that setting, as a sentence with a space in front. What protects the object is a
// step of its own.
func (b Responsible) keeping() string {
	if !b.IsKnown || b.Known.Knob == "" || len(b.Known.Protect) > 0 {
		return ""
	}
	return " " + phrase.Sentence("to keep things instead, set "+b.Known.Knob)
}

// Loss says what removing the finalizer by hand costs, and what to do before.
func (b Responsible) Loss() string {
	if !b.IsKnown {
		return "It is unknown what is lost when the finalizer is removed."
	}
	s := phrase.Sentence(b.Known.OnRemoval())
	if b.Known.Before != "" && b.Known.Polarity != finalizer.Guard {
		s += " " + phrase.Sentence(b.Known.Before)
	}
	return s
}

// protection are the steps that the packs want to be taken before anything else.
func (b Responsible) protection() []Step {
	var all []Step
	for _, p := range b.Known.Protect {
		all = append(all, Protecting(p))
	}
	return all
}

// Protecting is a step that a pack wants to be taken before data are destroyed.
func Protecting(p finalizer.Step) Step {
	return Step{Does: p.Does, risk: finalizer.RiskNone, Write: func(o v1alpha1.ObjectRef) string {
		return p.For(o.QualifiedResource(), o.Namespace, o.Name)
	}}
}

// removal is the command that removes the finalizer. Unless somebody has seen that its actor
// cannot and that nothing uses the object, or nothing is lost, it has to be forced.
func (b Responsible) removal() Step {
	if !b.IsKnown {
		return Remove(b.Finalizer, "--force").Doing("removes the finalizer; it is unknown what is lost")
	}
	s := Remove(b.Finalizer)
	used := len(b.Users) > 0 || b.UsersUnread != nil
	heavy := b.Known.Risk == finalizer.DataLoss || b.Known.Risk == finalizer.BreaksCluster
	if used || heavy || b.RunsOutside() || b.Life == actor.Alive || b.Life != actor.Dead && b.Known.Consequential() {
		s = Remove(b.Finalizer, "--force")
	}
	return s.Doing("removes the finalizer by hand: " + b.Known.IfRemoved).Risking(b.Known.Risk)
}

// Ordered returns the steps of a remedy, the safest first: what protects data, then what sets the
// actor to work, and at last what removes the finalizer; where the actor destroys what removing the
// finalizer keeps, it is the other way round.
func (b Responsible) Ordered(steps []Step) []Step {
	if b.Destroys() && b.Life == actor.Dead && !b.Idles() {
		return slices.Concat(b.protection(), []Step{b.removal()}, steps)
	}
	return slices.Concat(b.protection(), steps, []Step{b.removal()})
}

// Remove is the command that removes a finalizer of an object.
func Remove(name string, flags ...string) Step {
	s := Command(append([]string{"kubectl", "gc", "unfinalize", "OBJECT", "--finalizer", name}, flags...)...)
	s.Removes = true
	return s
}

// ByHand is the step that removes a finalizer of an object without its actor.
func (e *Examination) ByHand(o *unstructured.Unstructured, a actor.Actor) Step {
	return At(e.Ref(o), ResponsibleFor(o, a).removal())
}

// Whoever names an actor, also one that nobody can name.
func Whoever(a actor.Actor) string {
	return cmp.Or(a.Who, "whoever removes it")
}

// Cost is what removing a finalizer by hand costs, in sentences.
func Cost(a actor.Actor) string { return ResponsibleFor(nil, a).Cost() }
