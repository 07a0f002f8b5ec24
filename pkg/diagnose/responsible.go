package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// others are the finalizers that are not the collector's own, nor that of a CustomResourceDefinition, whose instances are looked for one by one.
func others(finalizers []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool {
		return f == plan.ForegroundFinalizer || f == plan.OrphanFinalizer || f == definitionFinalizer
	})
}

// actor says who should take a finalizer off, and whether they can. What refuses the update is the cause where somebody would make it; where nobody is
// there to make it, that comes on top.
func (e *examiner) actor(ctx context.Context, o *unstructured.Unstructured, name string, refused []finding) []finding {
	a, err := e.actors.Of(ctx, o, name)
	if err != nil {
		return nil // the context has ended
	}
	if a.Life == Alive && len(refused) > 0 {
		return refused
	}
	f := finding{finalizer: name, actor: a.Who, evidence: slices.Concat(a.Evidence, Outside(o))}
	who := a.Who
	if who == "" {
		who = "whoever takes it off"
	}
	switch a.Life {
	case Alive:
		f.code = FinalizerActorAlive
		f.evidence = append(f.evidence, e.says(ctx, o)...)
		f.remedy = sentence(who+" is alive: let it finish, and look into what it says") + honoured(a) + a.removal()
		f.commands = append(f.commands, command("kubectl", "describe", "OBJECT"))
		f.commands = append(f.commands, remove(name, "--force"))
	case Dead:
		f.code = FinalizerActorDead
		f.remedy = sentence("start "+who+" again and let it finish") + honoured(a) + a.removal()
		for _, w := range a.scaled {
			f.commands = append(f.commands, at(e.ref(w), command("kubectl", "scale", "OBJECT", "--replicas=1")))
		}
		f.commands = append(f.commands, remove(name, forced(a)...))
	default:
		f.code = FinalizerActorUnknown
		f.remedy = sentence("find out who takes it off, and whether they are at work") + honoured(a) + a.removal()
		if a.IsKnown {
			f.remedy = sentence("see that "+who+" is at work, which cannot be told from here") + honoured(a) + a.removal()
		}
		f.commands = append(f.commands, remove(name, forced(a)...))
	}
	return append([]finding{f}, refused...)
}

// honoured says what starting the controller brings about: that of an opt-in destructive finalizer deletes when it is started again.
func honoured(a Actor) string {
	if !a.IsKnown {
		return ""
	}
	return " " + sentence(a.Known.OnCompletion())
}

// removal says what taking it off by hand costs, and what to do before.
func (a Actor) removal() string {
	if !a.IsKnown {
		return " Nothing is known of what removing it costs."
	}
	s := " " + sentence(a.Known.OnRemoval())
	if a.Known.Before != "" {
		s += " " + sentence(a.Known.Before)
	}
	return s
}

// forced is what unfinalize wants to be told besides, for what it refuses.
func forced(a Actor) []string {
	if a.IsKnown && (a.Known.Risk == finalizer.DataLoss || a.Known.Risk == finalizer.BreaksCluster) {
		return []string{"--force"}
	}
	return nil
}

// remove is the command that takes a finalizer off an object.
func remove(name string, flags ...string) func(v1alpha1.ObjectRef) string {
	return command(append([]string{"kubectl", "gc", "unfinalize", "OBJECT", "--finalizer", name}, flags...)...)
}

// unread is for a finalizer of an object that could not be read.
func unread(name string, err error) finding {
	return finding{
		code: FinalizerActorUnknown, finalizer: name, evidence: []string{fmt.Sprintf("the object cannot be read: %v", err)},
		remedy: "Ask again as somebody who may read it.",
	}
}

// sentence makes a sentence of a clause.
func sentence(clause string) string {
	if clause == "" {
		return ""
	}
	return strings.ToUpper(clause[:1]) + strings.TrimSuffix(clause[1:], ".") + "."
}
