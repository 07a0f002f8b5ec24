package render

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// gate is a name of --fail-on, and the Findings that it is about.
type gate struct {
	name  string
	codes []string
	// warns says that a deletion which nobody is asked about warns of them.
	warns bool
}

// gates are the names of --fail-on. What could not be found out fails as what was found does.
var gates = []gate{
	{"data-loss", []string{destroysData, "DataUnknown"}, true},
	{"stuck", []string{wouldStop, deletingAlready, "NoOrder", "ControllerDeleted", "ForegroundCycle", "AccountRefused",
		"Guarded", "NodeSilent", "DiscoveryFailed", "WebhookDown", "ControllerNotRunning", "ControllerNotFound", "Paused",
		"NeedsConfirmation", "ObjectInUse", "CollectorNotRunning", "NamespaceControllerNotRunning"}, true},
	{Protected, []string{refusalUnknown, "DeletionRefused", "DeniedByPolicy", "Guarded", "ServerNotAsked"}, false},
	{"stranded", []string{"FinalizerAbandoned", "APIServiceWithoutBackend", "WebhookWithoutBackend",
		"OutsideKept"}, false},
	{comesBack, []string{"Recreated", "KeptByChange"}, false},
	{"gaps", []string{notListed, "DataUnknown", "ConfirmationUnknown", "ControllersNotExamined", "ControllerNotFound",
		controllerUnknown, "NotRead", "AccountUnsure", "ServerNotAsked"}, false},
}

// Protected is the name of --fail-on that is about what the server refuses, for which Plan.Unjudged
// has to be found out.
const Protected = "protected"

// comesBack is the name that only a deletion takes: see deletion.Examine.
const comesBack = "comes-back"

// Gates are the names that FailOn takes.
func Gates() []string { return phrase.Words(gates, func(g gate) string { return g.name }) }

// RunGates are the names that FailOn takes of a run.
func RunGates() []string {
	return slices.DeleteFunc(Gates(), func(name string) bool { return name == comesBack })
}

// The reasons of --fail-on that are no Findings, because the refusal of the plan says them.
const (
	wouldStop         = "WouldNotComplete"
	deletingAlready   = "DeletingAlready"
	notListed         = "NotListed"
	refusalUnknown    = "RefusalUnknown"
	controllerUnknown = "ControllerUnknown"
)

// reasonCodes calls yield with the code, the severity and the meaning of each of them.
func reasonCodes(yield func(code, severity, means string)) {
	yield(wouldStop, severe, "the deletion would not complete: the server refuses a part of it, or who removes finalizers is deleted first")
	yield(deletingAlready, warning, "an object is being deleted already, and waits for finalizers")
	yield(notListed, warning, "types that may contain dependents could not be listed")
	yield(controllerUnknown, warning, "the deletion waits for a finalizer of which no pack says who removes it")
	yield(refusalUnknown, warning, "whether the server refuses a delete is unknown: a policy or a webhook decides, and was not asked; only with --fail-on=protected")
}

// reasons are all that a name of --fail-on may be about.
func (p Plan) reasons() []v1alpha1.PlanFinding {
	var all []v1alpha1.PlanFinding
	if p.Unfinished != "" {
		all = append(all, v1alpha1.PlanFinding{Code: wouldStop, Severity: severe, Message: p.Unfinished})
	}
	if len(p.Gaps) > 0 {
		all = append(all, v1alpha1.PlanFinding{Code: notListed, Severity: warning,
			Message: "not all types that may contain dependents could be listed"})
	}
	if p.Unjudged != "" {
		all = append(all, v1alpha1.PlanFinding{Code: refusalUnknown, Severity: warning, Message: p.Unjudged})
	}
	return slices.Concat(all, p.stuckAlready(), p.unknownControllers(), p.Findings())
}

// FailOn refuses a plan that has what one of the names is about, with a line for each of them.
// Undone begins each line, as "nothing was deleted".
func FailOn(p Plan, names []string, undone string) error {
	if len(names) == 0 {
		return nil
	}
	all := p.reasons()
	var refusals []error
	for _, g := range gates {
		if !slices.Contains(names, g.name) {
			continue
		}
		reasons := g.of(all)
		if len(reasons) == 0 {
			continue
		}
		more := phrase.More(", and %d more", len(reasons)-1)
		refusals = append(refusals, answer.Refuse(fmt.Errorf("%s: --fail-on=%s: %s%s", undone, g.name, Escape(reasons[0]), more)))
	}
	return errors.Join(refusals...)
}

// of are why a plan with some reasons does not pass.
func (g gate) of(all []v1alpha1.PlanFinding) (reasons []string) {
	for _, f := range all {
		if slices.Contains(g.codes, f.Code) {
			reasons = append(reasons, f.Message)
		}
	}
	return reasons
}

// PlanJUnit writes a plan as JUnit XML: a test case for each of the names of --fail-on, or for each
// that can be answered without any, which fails if the plan has what it is about.
func PlanJUnit(w io.Writer, p Plan, names []string) error {
	suite := junitSuite{Name: "kubectl gc delete"}
	summary := "nothing is deleted"
	var all []v1alpha1.PlanFinding
	if p.Plan != nil {
		summary, all = p.Summary(), p.reasons()
	}
	for _, g := range gates {
		if len(names) > 0 && !slices.Contains(names, g.name) || len(names) == 0 && g.name == Protected && p.Asked == nil {
			continue
		}
		c := junitCase{Class: "plan", Name: g.name}
		if because := g.of(all); len(because) > 0 {
			c.Failure = &junitFault{Type: g.name, Message: Escape(because[0]),
				Text: phrase.EscapeLines(strings.Join(because, "\n"))}
		} else {
			c.Out = summary
		}
		suite.Cases = append(suite.Cases, c)
	}
	return suite.write(w)
}

// unknownControllers are the finalizers that the deletion waits for of which it is unknown who removes
// them, so that nobody has looked whether that runs.
func (p Plan) unknownControllers() (all []v1alpha1.PlanFinding) {
	type waiting struct {
		finalizer string
		object    graph.ID
	}
	var unknown []waiting
	for _, b := range p.Blockers {
		ref := p.Graph.Ref(b.Object)
		for _, name := range b.Finalizers {
			if _, known := p.Known.Lookup(name, ref.Group(), ref.Kind); !known {
				unknown = append(unknown, waiting{name, b.Object})
			}
		}
	}
	for name, ids := range groups(unknown, func(w waiting) (string, graph.ID) { return w.finalizer, w.object }) {
		all = append(all, v1alpha1.PlanFinding{Code: controllerUnknown, Severity: warning, Objects: p.Graph.Refs(ids),
			Message: fmt.Sprintf("%s %s for finalizer %s, and no pack says who removes it", fewLocated(p.Graph, ids),
				phrase.Plural(len(ids), "waits", "wait"), name)})
	}
	return all
}

// stuckAlready are the objects that are being deleted already and are still kept by finalizers, for
// which the deletion would wait.
func (p Plan) stuckAlready() (all []v1alpha1.PlanFinding) {
	for _, b := range p.Blockers {
		if len(b.Finalizers) > 0 && !p.clears(b) && p.Graph.State(b.Object) == graph.Deleting {
			ref := p.Graph.Ref(b.Object)
			all = append(all, v1alpha1.PlanFinding{Code: deletingAlready, Severity: warning, Objects: []graph.Ref{ref},
				Message: fmt.Sprintf("%s is being deleted already, and waits for the finalizers %s", ref.Located(), phrase.And(b.Finalizers))})
		}
	}
	return all
}
