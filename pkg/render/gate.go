package render

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// gate is a name of --fail-on, and the Findings that it is about.
type gate struct {
	name  string
	codes []string
}

// gates are the names of --fail-on. What could not be found out fails as what was found does.
var gates = []gate{
	{"data-loss", []string{destroysData, "DataUnknown"}},
	{"stuck", []string{"NoOrder", "ControllerDeleted", "ForegroundCycle", "AccountRefused", "Guarded",
		"ControllerNotRunning", "Paused", "NeedsConfirmation", "ObjectInUse", "CollectorNotRunning"}},
	{Protected, []string{"DeletionRefused", "Guarded", "ServerNotAsked"}},
	{"stranded", []string{"FinalizerAbandoned", "APIServiceWithoutBackend", "OutsideKept"}},
	{"comes-back", []string{"Recreated"}},
	{"gaps", []string{"DataUnknown", "ConfirmationUnknown", "ControllersNotExamined", "NotRead", "AccountUnsure",
		"ServerNotAsked"}},
}

// Protected is the name of --fail-on that is about what the server refuses, which has to be asked.
const Protected = "protected"

// Gates are the names that FailOn takes.
func Gates() (names []string) {
	for _, g := range gates {
		names = append(names, g.name)
	}
	return names
}

// FailOn refuses a plan that has what one of the names is about, with a line for each of them.
// Undone begins each line, as "nothing was deleted".
func FailOn(p *deletion.Planned, names []string, undone string) error {
	if len(names) == 0 {
		return nil
	}
	shown := DeletionPlan(p)
	findings := shown.Findings()
	var refusals []error
	for _, g := range gates {
		if !slices.Contains(names, g.name) {
			continue
		}
		var reasons []string
		switch stuck := p.WouldBeStuck(); {
		case g.name == "stuck" && stuck != "":
			reasons = append(reasons, stuck)
		case g.name == "gaps" && len(p.Hiding) > 0:
			reasons = append(reasons, "not all types that may contain dependents could be listed")
		}
		if g.name == "stuck" {
			reasons = append(reasons, shown.stuckAlready()...)
		}
		for _, f := range findings {
			if slices.Contains(g.codes, f.Code) {
				reasons = append(reasons, f.Message)
			}
		}
		if len(reasons) == 0 {
			continue
		}
		more := ""
		if n := len(reasons) - 1; n > 0 {
			more = fmt.Sprintf(", and %d more", n)
		}
		refusals = append(refusals, answer.Refuse(fmt.Errorf("%s: --fail-on=%s: %s%s", undone, g.name, Escape(reasons[0]), more)))
	}
	return errors.Join(refusals...)
}

// stuckAlready are the objects that are being deleted already and are still kept by finalizers, for
// which the deletion would wait.
func (p Plan) stuckAlready() (says []string) {
	for _, b := range p.Blockers {
		if len(b.Finalizers) > 0 && !p.clears(b) && p.Graph.State(b.Object) == graph.Deleting {
			says = append(says, fmt.Sprintf("%s is being deleted already, and waits for the finalizers %s", p.Graph.Ref(b.Object).Located(),
				phrase.And(b.Finalizers)))
		}
	}
	return says
}
