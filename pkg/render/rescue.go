package render

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/rescue"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// RescuePlan writes what is known of the finalizers that hold an object, what speaks against its
// rescue, and the steps.
func RescuePlan(w io.Writer, p *rescue.Planned, s Style) error {
	var lines []string
	if p.Finalizers != nil {
		if err := verdictTable(w, verdicts(p.Finalizers), false, s); err != nil {
			return err
		}
		lines = explanations(othersFinalizers(p.Finalizers))
	}
	for _, r := range p.Refusals {
		word := "refused"
		if p.Overrides.Covers(r) {
			word = "despite this (" + string(r.Override) + ")"
		}
		lines = append(lines, Escape(word+": "+r.Because))
	}
	return Paragraphs(w, append(lines, rescueSteps(p)...), s)
}

// othersFinalizers leaves out those of the collector, about which there is nothing to explain: the
// dependents lose their references before.
func othersFinalizers(p *unfinalize.Planned) *unfinalize.Planned {
	others := *p
	others.Batches = nil
	for _, c := range p.Candidates() {
		part := *c
		part.Assessments = slices.DeleteFunc(slices.Clone(c.Assessments), func(v unfinalize.Assessment) bool {
			return len(v.Refusals) == 0 && plan.IsCollectors(v.Name)
		})
		others.Batches = append(others.Batches, []*unfinalize.Candidate{&part})
	}
	return &others
}

// rescueSteps are the steps that are due, one in a line.
func rescueSteps(p *rescue.Planned) []string {
	var lines []string
	object := KindName(p.Ref)
	refs := func(verb plan.Verb) []graph.Ref {
		var all []graph.Ref
		for _, a := range p.Actions() {
			if a.Verb == verb {
				all = append(all, a.Object)
			}
		}
		return all
	}
	named := func(all []graph.Ref) string {
		return phrase.Count(len(all), "dependent") + ": " + phrase.And(kindNames(all...))
	}
	switch {
	case p.Resumed:
		lines = append(lines, "goes on from the archive "+Escape(p.Archive))
	case len(p.Dependents) == 0:
		lines = append(lines, fmt.Sprintf("archives %s, which has no dependents, in %s", object, Escape(p.Archive)))
	default:
		lines = append(lines, fmt.Sprintf("archives %s and %s in %s", object, phrase.Count(len(p.Dependents), "dependent"),
			Escape(p.Archive)))
	}
	if released := refs(plan.VerbOrphan); len(released) > 0 {
		lines = append(lines, fmt.Sprintf("removes the references to it from %s", named(released)))
	}
	if p.Stage == rescue.Held {
		lines = append(lines, "frees it, and waits until it is deleted")
	}
	if p.Stage != rescue.Created {
		lines = append(lines, "creates it again")
	}
	if p.Volume != nil {
		lines = append(lines, fmt.Sprintf("gives %s its new uid, so that they stay bound", KindName(*p.Volume)))
	}
	if adopted := refs(rescue.VerbAdopt); len(adopted) > 0 {
		lines = append(lines, "puts the references back, with the new uid, on "+named(adopted))
	}
	if len(p.Lost) > 0 {
		lines = append(lines, fmt.Sprintf("cannot save %s, being deleted already: %s", phrase.Count(len(p.Lost), "dependent"),
			phrase.And(kindNames(p.Lost...))))
	}
	return lines
}

// RescueQuestion asks for what is done, and for what it leaves undone.
func RescueQuestion(p *rescue.Planned, s Style) string {
	if p.Finalizers == nil {
		return Question
	}
	return UnfinalizeQuestion(p.Finalizers, s)
}

// RescueRefusal is the refusal of a plan; nil if there is none.
func RescueRefusal(p *rescue.Planned) error {
	against := p.Against()
	if len(against) == 0 {
		return nil
	}
	text := "nothing was changed: " + Quoted(p.Ref) + ": " + against[0].Because
	if n := len(against) - 1; n > 0 {
		text += fmt.Sprintf(" (and %s)", phrase.Count(n, "more reason"))
	}
	return answer.Refuse(answer.WithHint(errors.New(text), refusalHint(against[0], false)))
}

// RescueEvents writes a line for each write that was done.
func RescueEvents(w io.Writer) func(plan.Event) { return eachDone(w, rescueLine) }

// eachDone tells of each write that was done in a line.
func eachDone(w io.Writer, line func(plan.Write) string) func(plan.Event) {
	return func(e plan.Event) {
		if e.Err == nil {
			fmt.Fprintln(w, line(e.Action))
		}
	}
}

func rescueLine(a plan.Write) string {
	object, finalizers := Quoted(a.Object), Escape(strings.Join(a.Finalizers, ", "))
	switch a.Verb {
	case plan.VerbOrphan:
		return fmt.Sprintf("%s: reference to %s removed", object, KindName(a.Cause))
	case rescue.VerbAdopt:
		return fmt.Sprintf("%s: reference to %s put back", object, KindName(a.Cause))
	case restore.Create:
		return object + " created again"
	case rescue.VerbUpdateStatus:
		return object + ": status restored"
	case restore.Rebind:
		return object + ": bound to the new claim"
	case plan.VerbDelete:
		return object + " deleted again"
	}
	return fmt.Sprintf("%s: %s removed", object, finalizers)
}

// RescueSkipped warns of what was left alone on purpose.
func RescueSkipped(w io.Writer, o *rescue.Outcome) {
	for _, s := range o.Skipped {
		Warn(w, "%s: %s", Quoted(s.Object), Escape(s.Because))
	}
	for _, lost := range o.Planned.Lost {
		Warn(w, "%s could not be saved: it was being deleted already", Quoted(lost))
	}
}
