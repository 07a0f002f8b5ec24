package diagnose

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// others are the finalizers that are not the collector's own, nor that of a CustomResourceDefinition, whose instances are looked for one by one.
func others(finalizers []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool {
		return f == plan.ForegroundFinalizer || f == plan.OrphanFinalizer || f == crdFinalizer
	})
}

// actor says who should take a finalizer off, and whether they can. What refuses the update is the cause where somebody would make it; where nobody is
// there to make it, that comes on top.
func (e *examiner) actor(ctx context.Context, o *unstructured.Unstructured, name string, refused []finding) []finding {
	a, err := e.actors.Of(ctx, o, name)
	if err != nil {
		return nil // the context has ended
	}
	if a.Life == actor.Alive && len(refused) > 0 {
		return refused
	}
	f := finding{finalizer: name, actor: a.Who, evidence: slices.Concat(e.says(ctx, o), a.Evidence, observed(status.Outside(o)...))}
	who := a.Who
	if who == "" {
		who = "whoever takes it off"
	}
	switch a.Life {
	case actor.Alive:
		f.code = FinalizerActorAlive
		f.remedy = phrase.Sentence(who+" is alive: let it finish, and look into what it says") + honoured(a) + removal(a)
		f.commands = append(f.commands, command("kubectl", "describe", "OBJECT"))
		f.commands = append(f.commands, remove(name, "--force"))
	case actor.Dead:
		f.code = FinalizerActorDead
		f.remedy = phrase.Sentence("start "+who+" again and let it finish") + honoured(a) + removal(a)
		for _, w := range a.Scaled {
			f.commands = append(f.commands, at(e.ref(w), command("kubectl", "scale", "OBJECT", "--replicas=1")))
		}
		f.commands = append(f.commands, remove(name, forced(a)...))
	default:
		f.code = FinalizerActorUnknown
		f.remedy = phrase.Sentence("find out who takes it off, and whether they are at work") + honoured(a) + removal(a)
		if a.IsKnown {
			f.remedy = phrase.Sentence("see that "+who+" is at work, which cannot be told from here") + honoured(a) + removal(a)
		}
		if a.NotFound() {
			f.code = FinalizerActorNotFound
			f.remedy = phrase.Sentence("find out whether "+who+" was uninstalled, or runs under another name; if it was uninstalled, install it again and let it finish") + honoured(a) + removal(a)
		}
		f.commands = append(f.commands, remove(name, forced(a)...))
	}
	return append([]finding{f}, refused...)
}

// honoured says what starting the controller brings about: that of an opt-in destructive finalizer deletes when it is started again.
func honoured(a actor.Actor) string {
	if !a.IsKnown {
		return ""
	}
	return " " + phrase.Sentence(a.Known.OnCompletion())
}

// removal says what taking it off by hand costs, and what to do before.
func removal(a actor.Actor) string {
	if !a.IsKnown {
		return " Nothing is known of what removing it costs."
	}
	s := " " + phrase.Sentence(a.Known.OnRemoval())
	if a.Known.Before != "" {
		s += " " + phrase.Sentence(a.Known.Before)
	}
	return s
}

// forced is what unfinalize wants to be told besides, for what it refuses.
func forced(a actor.Actor) []string {
	if a.IsKnown && (a.Known.Risk == finalizer.DataLoss || a.Known.Risk == finalizer.BreaksCluster) {
		return []string{"--force"}
	}
	return nil
}

// remove is the command that takes a finalizer off an object.
func remove(name string, flags ...string) step {
	return command(append([]string{"kubectl", "gc", "unfinalize", "OBJECT", "--finalizer", name}, flags...)...)
}

// unread is for a finalizer of an object that could not be read.
func unread(name string, err error) finding {
	return finding{
		code: FinalizerActorUnknown, finalizer: name, evidence: observed(fmt.Sprintf("the object cannot be read: %v", err)),
		remedy: "Ask again as somebody who may read it.",
	}
}
