package render

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
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
	{Protected, []string{"DeletionRefused", "DeniedByPolicy", "Guarded", "ServerNotAsked"}},
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
		reasons := g.reasons(p, shown, findings)
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

// reasons are why a plan with some findings does not pass.
func (g gate) reasons(p *deletion.Planned, shown Plan, findings []v1alpha1.PlanFinding) (reasons []string) {
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
	return reasons
}

// PlanJUnit writes a plan as JUnit XML: a test case for each of the names of --fail-on, or for each
// that can be answered without any, which fails if the plan has what it is about.
func PlanJUnit(w io.Writer, p *deletion.Planned, names []string) error {
	suite := junitSuite{Name: "kubectl gc delete"}
	summary := "nothing is deleted"
	reasons := func(gate) []string { return nil }
	if p.Plan != nil {
		shown := DeletionPlan(p)
		findings := shown.Findings()
		summary, reasons = shown.Summary(), func(g gate) []string { return g.reasons(p, shown, findings) }
	}
	for _, g := range gates {
		if len(names) > 0 && !slices.Contains(names, g.name) || len(names) == 0 && g.name == Protected && p.Asked == nil {
			continue
		}
		c := junitCase{Class: "plan", Name: g.name}
		if because := reasons(g); len(because) > 0 {
			c.Failure = &junitFault{Type: g.name, Message: Escape(because[0]),
				Text: phrase.EscapeLines(strings.Join(because, "\n"))}
		} else {
			c.Out = summary
		}
		suite.Cases = append(suite.Cases, c)
	}
	return suite.write(w)
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
