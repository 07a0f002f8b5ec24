package core

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Command is a command line about an object; the arguments may contain OBJECT, which stands for
// TYPE/NAME of it, with its namespace behind. It is empty if OBJECT is of no type that is served.
func Command(args ...string) Step {
	return Step{Write: func(o v1alpha1.ObjectRef) string {
		var words []string
		for _, arg := range args {
			if arg != "OBJECT" {
				words = append(words, arg)
				continue
			}
			named := o.Arguments()
			if named == nil {
				return ""
			}
			words = append(words, named...)
		}
		return phrase.Command(words...)
	}}
}

// Describe is the command that shows what a cause lies in.
func Describe() Step {
	return Command("kubectl", "describe", "OBJECT").Doing("shows it, with its events")
}

// InTheWay shows what goes with an object that is in the way of another, or why it is still there if
// it is being deleted.
func InTheWay(deleting bool) Step {
	if deleting {
		return Command("kubectl", "gc", "why", "OBJECT").Safely("says why it is still there")
	}
	return Command("kubectl", "gc", "delete", "OBJECT", "--dry-run").Safely("shows what is deleted with it")
}

// Step is one command of a remedy.
type Step struct {
	// Write writes the command about an object.
	Write func(v1alpha1.ObjectRef) string
	// Does is a clause that says what it brings about, and risk what it puts at risk.
	Does string
	risk finalizer.Risk
	// disturbs says that it harms what works, though no data are at risk.
	disturbs bool
	// Removes says that it removes a finalizer by hand.
	Removes bool
	// creates is the namespace in which it creates something, empty if it creates nothing.
	creates string
}

// Doing says what a step brings about.
func (s Step) Doing(does string) Step {
	s.Does = does
	return s
}

// Safely says what a step brings about that puts nothing at risk.
func (s Step) Safely(does string) Step { return s.Doing(does).Risking(finalizer.RiskNone) }

// Risking says what a step puts at risk.
func (s Step) Risking(risk finalizer.Risk) Step {
	s.risk = risk
	return s
}

// Disturbing says that the step harms what works: that it ends what runs, or takes a protection off.
func (s Step) Disturbing() Step {
	s.disturbs = true
	return s
}

// harms reports whether somebody should look before the step is taken.
func (s Step) harms() bool { return s.disturbs || s.risk != "" && s.risk != finalizer.RiskNone }

// Forced is the step with --force, for a removal that is refused without.
func (s Step) Forced() Step {
	const force = " --force"
	if write := s.Write; s.Removes {
		s.Write = func(o v1alpha1.ObjectRef) string {
			if line := write(o); line != "" {
				return strings.TrimSuffix(line, force) + force
			}
			return ""
		}
	}
	return s
}

// FixedCommand is a command line that does not depend on an object.
func FixedCommand(args ...string) Step { return At(v1alpha1.ObjectRef{}, Command(args...)) }

// At is a command about another object than the one in which the cause lies.
func At(o v1alpha1.ObjectRef, s Step) Step {
	write := s.Write
	s.Write = func(v1alpha1.ObjectRef) string { return write(o) }
	return s
}

// ignoring is the command that has the server go on without a webhook that does not answer.
func ignoring(index int) Step {
	return Command("kubectl", "patch", "OBJECT", "--type=json", "-p",
		fmt.Sprintf(`[{"op":"replace","path":"/webhooks/%d/failurePolicy","value":"Ignore"}]`, index))
}
