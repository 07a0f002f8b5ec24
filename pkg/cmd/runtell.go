package cmd

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// runTeller prints a line for each write as it happens, and counts them. It keeps them for the Result, unless the loop may go on for months.
type runTeller struct {
	f      *runFlags
	keeps  bool
	events []collect.Event
	counts map[plan.Verb]int
	passes int
	// failed are the first failures of those that are not kept as events, and failures how many there were.
	failed   []error
	failures int
	// told are the failures that were printed while the loop was watching, by uid.
	told map[string]string
}

const (
	// begun counts the deletes of what finalizers hold.
	begun plan.Verb = "begun"
	// mostFailures is how many failures are printed again when a watch ends, and mostTold how many are remembered so as not to be printed twice.
	mostFailures = 20
	mostTold     = 1000
)

func newRunTeller(f *runFlags) *runTeller {
	return &runTeller{f: f, keeps: !f.watch, counts: map[plan.Verb]int{}, passes: 1, told: map[string]string{}}
}

func (t *runTeller) tell(e collect.Event) {
	if t.keeps {
		t.events = append(t.events, e)
	}
	if e.Err != nil {
		t.fail(e)
		return
	}
	verb := e.Action.Verb
	if verb == plan.VerbDelete && len(e.Action.Held) > 0 {
		verb = begun
	}
	t.counts[verb]++
	t.passes = max(t.passes, e.Action.Pass)
	f := t.f
	switch {
	case f.output.format() == "name":
		if e.Action.Verb == plan.VerbDelete {
			fmt.Fprintln(f.Out, render.Escape(kindOf(e.Action.Object)+"/"+e.Action.Object.Name))
		}
	case f.output.isOwn():
		fmt.Fprintln(f.Out, actionLine(e.Action))
	}
}

// fail counts a write that failed. While the loop watches it is printed at once, and once as long as the server says the same.
func (t *runTeller) fail(e collect.Event) {
	t.failures++
	if t.keeps {
		return
	}
	err := eventError(e)
	if len(t.failed) < mostFailures {
		t.failed = append(t.failed, err)
	}
	uid, says := e.Action.Object.UID, err.Error()
	if t.told[uid] == says {
		return
	}
	if len(t.told) >= mostTold {
		clear(t.told)
	}
	t.told[uid] = says
	fmt.Fprintf(t.f.ErrOut, "Warning: %s\n", render.Escape(says))
}

// paused says why the loop waits, and that it goes on.
func (t *runTeller) paused(err error) {
	var mass *collect.MassError
	switch {
	case err == nil:
		fmt.Fprintln(t.f.ErrOut, "collecting again")
	case errors.As(err, &mass):
		fmt.Fprintf(t.f.ErrOut, "Warning: nothing is collected while %s; if this is right, start again with --allow-mass-collection\n", massesWords(mass.Masses))
	default:
		fmt.Fprintf(t.f.ErrOut, "Warning: nothing is collected until the server answers again: %s\n", render.Escape(shorten(err.Error())))
	}
}

// warned prints a line for each event that was written about an object. One that is refused, as in a namespace that is being deleted, is no error.
func (t *runTeller) warned(dependent graph.Ref, err error) {
	f := t.f
	object := withNamespace(dependent, " in ")
	switch {
	case err != nil:
		fmt.Fprintf(f.ErrOut, "warning: writing an event about %s: %s\n", object, render.Escape(err.Error()))
	case f.output.isOwn() && f.output.format() != "name":
		fmt.Fprintf(f.Out, "%s: event OwnerRefInvalidNamespace written\n", object)
	}
}

// misplaced are the objects that may be written to and have a reference to an owner in another namespace.
func misplaced(g *graph.Graph, may func(*graph.Graph, graph.ID) bool) []graph.ID {
	var ids []graph.ID
	for i := range g.Len() {
		id := graph.ID(i)
		for e := range g.Owners(id) {
			if collect.Misplaced(g, e) && (may == nil || may(g, id)) {
				ids = append(ids, id)
				break
			}
		}
	}
	return ids
}

// actionLine words one write as kubectl would, with the reason.
func actionLine(a collect.Action) string {
	because := render.Sentence(a.Because, a.Cause)
	object := withNamespace(a.Object, " in ")
	switch a.Verb {
	case plan.VerbDelete:
		line := withNamespace(a.Object, " deleted from ")
		if len(a.Held) > 0 {
			line = object + " is being deleted"
		}
		if a.Policy != plan.Background {
			line += " (" + strings.ToLower(string(a.Policy)) + ")"
		}
		return line + ": " + because
	case plan.VerbOrphan:
		return fmt.Sprintf("%s lost %s: %s", object, countWords(len(a.Owners), "reference"), because)
	case plan.VerbUnblock:
		return fmt.Sprintf("%s blocks %s no more: %s", object, countWords(len(a.Owners), "owner"), because)
	case plan.VerbRemoveFinalizer:
		return fmt.Sprintf("%s was let go: %s", object, because)
	}
	return fmt.Sprintf("%s: %s", object, a.Verb)
}

func countWords(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// summary says what was done.
func (t *runTeller) summary() string {
	var parts []string
	for _, part := range []struct {
		verb          plan.Verb
		format, nouns string
	}{
		{plan.VerbDelete, "deleted %s", "object"},
		{begun, "began to delete %s", "object"},
		{plan.VerbOrphan, "took references off %s", "dependent"},
		{plan.VerbUnblock, "unblocked %s", "dependent"},
		{plan.VerbRemoveFinalizer, "let %s go", "owner"},
	} {
		if n := t.counts[part.verb]; n > 0 {
			parts = append(parts, fmt.Sprintf(part.format, countWords(n, part.nouns)))
		}
	}
	if len(parts) == 0 {
		return "nothing was collected"
	}
	return strings.Join(parts, ", ") + ", in " + passWords(t.passes)
}

func passWords(n int) string {
	if n == 1 {
		return "1 pass"
	}
	return fmt.Sprintf("%d passes", n)
}

// errors are what writes met.
func (t *runTeller) errors() []error {
	if t.keeps {
		return eventErrors(t.events)
	}
	if more := t.failures - len(t.failed); more > 0 {
		return append(t.failed, fmt.Errorf("%s failed besides", countWords(more, "write")))
	}
	return t.failed
}

func eventErrors(events []collect.Event) []error {
	var errs []error
	for _, e := range events {
		if e.Err != nil {
			errs = append(errs, eventError(e))
		}
	}
	return errs
}

func eventError(e collect.Event) error {
	return fmt.Errorf("%s %s %q: %w", e.Action.Verb, e.Action.Object.Resource, e.Action.Object.Name, e.Err)
}

// mostLeftovers is how many objects that are left are named.
const mostLeftovers = 20

// leftovers says on stderr what the loop leaves to others.
func (f *runFlags) leftovers(g *graph.Graph, left []plan.Survivor) {
	for i, l := range left {
		if i == mostLeftovers {
			fmt.Fprintf(f.ErrOut, "and %d more that are left\n", len(left)-mostLeftovers)
			return
		}
		fmt.Fprintf(f.ErrOut, "left: %s: %s\n", withNamespace(g.Ref(l.Object), " in "), f.leftBecause(g, l))
	}
}

// leftBecause says why an object is left, with the finalizers that hold it and whose they are.
func (f *runFlags) leftBecause(g *graph.Graph, l plan.Survivor) string {
	if l.Because.Code != plan.FinalizersHold {
		return render.SurvivorSentence(g, l)
	}
	known, _ := f.known() // without it the finalizers are named all the same
	return heldBy(g.Ref(l.Object), g.Finalizers(l.Object), known)
}

// runResult returns what came of a run as the versioned object that -o json prints.
func (f *runFlags) result(events []collect.Event, g *graph.Graph, left []plan.Survivor, gaps []v1alpha1.Gap) *v1alpha1.Result {
	out := &v1alpha1.Result{
		TypeMeta: v1alpha1.TypeMeta("Result"), Complete: len(gaps) == 0, Gaps: append([]v1alpha1.Gap{}, gaps...),
		Done: []v1alpha1.Action{}, Failed: []v1alpha1.FailedAction{}, Skipped: []v1alpha1.SkippedObject{}, Remaining: []v1alpha1.SkippedObject{},
	}
	addEvents(out, events)
	for _, l := range left {
		skipped := v1alpha1.SkippedObject{Object: render.RefObject(g.Ref(l.Object)), Because: f.leftBecause(g, l)}
		switch l.Because.Code {
		case plan.NotJudged:
			out.Skipped = append(out.Skipped, skipped)
		default:
			out.Remaining = append(out.Remaining, skipped)
		}
	}
	return out
}

// addEvents adds what the loop did to a Result.
func addEvents(out *v1alpha1.Result, events []collect.Event) {
	for _, e := range events {
		a := collectedAction(e.Action)
		if e.Err != nil {
			out.Failed = append(out.Failed, v1alpha1.FailedAction{Action: a, Error: e.Err.Error()})
			continue
		}
		out.Done = append(out.Done, a)
	}
}

// collectedAction is one write of the loop as it is printed. The loop does the collector's part.
func collectedAction(a collect.Action) v1alpha1.Action {
	return v1alpha1.Action{
		Verb: string(a.Verb), Object: render.RefObject(a.Object), Policy: string(a.Policy), Owners: slices.Clone(a.Owners), Wave: a.Pass,
		By: string(plan.ByCollector), Because: render.Sentence(a.Because, a.Cause), Reason: string(a.Because),
	}
}

// showNames prints the names of objects, one in a line.
func showNames(w io.Writer, g *graph.Graph, ids []graph.ID) error {
	var rows []graph.Row
	for _, id := range ids {
		rows = append(rows, graph.Row{ID: id})
	}
	return render.TreeNames(w, render.Tree{Graph: g, Rows: rows})
}
