package diagnose

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// step is one command of a cure.
type step struct {
	// write writes the command about an object.
	write func(v1alpha1.ObjectRef) string
	// does is a clause that says what it brings about, and risk what it puts at risk.
	does string
	risk finalizer.Risk
	// removes says that it removes a finalizer by hand.
	removes bool
	// creates is the namespace in which it creates something, empty if it creates nothing.
	creates string
}

// doing says what a step brings about.
func (s step) doing(does string) step {
	s.does = does
	return s
}

// risking says what a step puts at risk.
func (s step) risking(risk finalizer.Risk) step {
	s.risk = risk
	return s
}

// fixedCommand is a command line that does not depend on an object.
func fixedCommand(args ...string) step { return at(v1alpha1.ObjectRef{}, command(args...)) }

// at is a command about another object than the one in which the cause lies.
func at(o v1alpha1.ObjectRef, s step) step {
	write := s.write
	s.write = func(v1alpha1.ObjectRef) string { return write(o) }
	return s
}

// ignoring is the command that has the server go on without a webhook that does not answer.
func ignoring(index int) step {
	return command("kubectl", "patch", "OBJECT", "--type=json", "-p", fmt.Sprintf(`[{"op":"replace","path":"/webhooks/%d/failurePolicy","value":"Ignore"}]`, index))
}
