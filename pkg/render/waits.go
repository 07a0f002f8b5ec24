package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Waits word what is left of a cascade, and what it waits for.
type Waits struct {
	// Known is what is known of finalizers, which may be nothing.
	Known *finalizer.Registry
	Now   time.Time
	// Confirmations are those that are waited for, by what was known when the wait began.
	Confirmations []plan.Confirmation
}

// WaitsOf words what is left of a deletion.
func WaitsOf(p *deletion.Planned) Waits {
	w := Waits{Known: p.Known, Now: time.Now()}
	if p.Plan != nil {
		w.Confirmations = p.Confirmations
	}
	return w
}

// For says what an object that is left waits for.
func (w Waits) For(l act.Blocked) string {
	others, foreground, orphan := finalizersOf(l)
	others = append(others, l.InSpec...)
	switch {
	case l.Refused != nil:
		return "the server refuses its deletion: " + Escape(phrase.Shorten(l.Refused.Error()))
	case !l.Deleting && l.CollectorsTurn:
		return "the collector has not deleted it yet"
	case !l.Deleting:
		return "not deleted yet"
	}
	var reasons []string
	if left := w.graceLeft(l); left > 0 {
		reasons = append(reasons, fmt.Sprintf("%s of its grace period left", left))
	}
	others = slices.DeleteFunc(others, func(name string) bool {
		waits, is := w.confirmation(l.Object, name)
		if is {
			reasons = append(reasons, waits)
		}
		return is
	})
	if len(others) > 0 {
		reasons = append(reasons, FinalizersOf(l.Object, others, w.Known))
	}
	if l.Trouble.Type != "" {
		reasons = append(reasons, troubleOf(l))
	}
	switch {
	case len(reasons) > 0:
		return strings.Join(reasons, "; ")
	case foreground && l.BlockingDependents == 1:
		return "waits for 1 blocking dependent"
	case foreground && l.BlockingDependents > 1:
		return fmt.Sprintf("waits for %d blocking dependents", l.BlockingDependents)
	case foreground:
		return "the collector has not released it, though no dependent blocks it"
	case orphan:
		return "the collector has not orphaned its dependents yet"
	case isPod(l):
		return fmt.Sprintf("its grace period ended %s ago; the kubelet has not confirmed that it stopped",
			w.Now.Sub(time.Unix(l.DeletionTimestamp, 0)).Round(time.Second))
	}
	return "terminating"
}

// troubleOf is the condition in which an object says what is wrong.
func troubleOf(l act.Blocked) string {
	c := l.Trouble
	s := fmt.Sprintf("%s is %s", c.Type, c.Status)
	if c.Reason != "" {
		s += " (" + c.Reason + ")"
	}
	if c.Message != "" {
		s += ": " + phrase.Shorten(c.Message)
	}
	return Escape(s)
}

// finalizersOf tells the finalizers of others from the collector's.
func finalizersOf(l act.Blocked) (others []string, foreground, orphan bool) {
	for _, f := range l.Finalizers {
		switch f {
		case plan.ForegroundFinalizer:
			foreground = true
		case plan.OrphanFinalizer:
			orphan = true
		default:
			others = append(others, f)
		}
	}
	return others, foreground, orphan
}

// graceLeft is how long a grace period still runs: the deletionTimestamp is when it ends.
func (w Waits) graceLeft(l act.Blocked) time.Duration {
	return time.Unix(l.DeletionTimestamp, 0).Sub(w.Now).Round(time.Second)
}

func isPod(l act.Blocked) bool { return l.Object.Resource == "pods" && l.Object.Group() == "" }

// byUse puts what somebody can do something about before what waits for it.
func (w Waits) byUse(left []act.Blocked) []act.Blocked {
	left = slices.Clone(left)
	slices.SortStableFunc(left, func(a, b act.Blocked) int { return cmp.Compare(a.Urgency(w.Now), b.Urgency(w.Now)) })
	return left
}

// mostLeft is how many of the objects that are left are named.
const mostLeft = 5

// Remaining names some of the n objects that are left, and what they wait for.
func (w Waits) Remaining(left []act.Blocked, n int) string {
	var parts []string
	for i, l := range w.byUse(left) {
		if i == mostLeft {
			parts = append(parts, fmt.Sprintf("and %d more", n-mostLeft))
			break
		}
		parts = append(parts, KindName(l.Object)+" ("+w.For(l)+")")
	}
	return strings.Join(parts, ", ")
}

// headline says how far a wait has come.
func headline(p act.Progress, after time.Duration) string {
	return fmt.Sprintf("%d of %d deleted after %s, wave %d of %d", p.Total-p.BlockedCount, p.Total,
		after.Round(time.Second), p.Wave, p.Waves)
}

// liveView are the lines that say on a terminal how far a wait has come and what is left, cut to
// its width.
func (w Waits) liveView(p act.Progress, after time.Duration, width int) []string {
	lines := []string{headline(p, after)}
	left := w.byUse(p.Blocked)
	shown := left[:min(len(left), mostLeft)]
	column := 0
	for _, l := range shown {
		column = max(column, len([]rune(KindName(l.Object))))
	}
	column = min(column, width/2)
	for _, l := range shown {
		lines = append(lines, fmt.Sprintf("  %-*s  %s", column, cut(KindName(l.Object), column), w.For(l)))
	}
	if more := p.BlockedCount - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	for i := range lines {
		lines[i] = cut(lines[i], width-1) // one that wrapped could not be written over
	}
	return lines
}

// WaitBegins writes which of the objects that are meant do not exist, with what else could have
// been meant, and what is waited for.
func WaitBegins(out, errOut io.Writer, p *deletion.Planned) {
	for _, a := range p.Absent {
		fmt.Fprintf(out, "%s does not exist\n", Quoted(a.Object))
		if a.Hint != "" {
			fmt.Fprintln(errOut, "hint: "+phrase.EscapeLines(a.Hint))
		}
	}
	if n := len(p.Deleted); n > 0 {
		fmt.Fprintf(out, "waiting until %s deleted: %s\n", objectsAre(n),
			sortedFew(KindNamesOf(p.Graph, p.Deleted)))
	}
}

// WarnUnattended warns of the finalizers that nobody removes as things are, and of the deletions that
// wait for somebody to confirm them.
func WarnUnattended(errOut io.Writer, p *deletion.Planned) {
	for _, u := range p.Unattended {
		more := ""
		if u.More > 0 {
			more = " and " + phrase.Count(u.More, "more object")
		}
		Warn(errOut, "nobody removes the finalizer %s of %s%s at present: %s",
			Escape(u.Finalizer), Escape(u.Object.Located()), more, Escape(strings.Join(u.Because, "; ")))
	}
	if p.Plan == nil {
		return
	}
	of := DeletionPlan(p)
	for _, r := range slices.Concat(of.remarkUnanswered(), of.remarkConfirmations()) {
		Warn(errOut, "%s", r.text)
	}
}
