package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// wording words what is left of a cascade.
type wording struct {
	// known is what is known of finalizers, which may be nothing.
	known *finalizer.Registry
	now   time.Time
}

// waitsFor says what an object that is left waits for.
func (w wording) waitsFor(l act.Left) string {
	others, foreground, orphan := finalizersOf(l)
	switch {
	case l.Refused != nil:
		return "the server refuses its deletion: " + render.Escape(shorten(l.Refused.Error()))
	case !l.Deleting && l.CollectorsTurn:
		return "the collector has not deleted it yet"
	case !l.Deleting:
		return "not deleted yet"
	}
	var reasons []string
	if left := w.graceLeft(l); left > 0 {
		reasons = append(reasons, fmt.Sprintf("%s of its grace period left", left))
	}
	if len(others) > 0 {
		for i, name := range others {
			if k, ok := w.known.Lookup(name, l.Object.Group(), l.Object.Kind); ok && !k.Fallback {
				others[i] += " of " + k.Who()
			}
		}
		reasons = append(reasons, "finalizer "+render.Escape(strings.Join(others, ", ")))
	}
	switch {
	case len(reasons) > 0:
		return strings.Join(reasons, "; ")
	case foreground && l.Blocking == 1:
		return "waits for 1 blocking dependent"
	case foreground && l.Blocking > 1:
		return fmt.Sprintf("waits for %d blocking dependents", l.Blocking)
	case foreground:
		return "the collector has not released it, though no dependent blocks it"
	case orphan:
		return "the collector has not orphaned its dependents"
	case isPod(l):
		return fmt.Sprintf("its grace period ended %s ago; nobody confirms that it has stopped", w.now.Sub(time.Unix(l.Deleted, 0)).Round(time.Second))
	}
	return "terminating"
}

// finalizersOf tells the finalizers of others from the collector's.
func finalizersOf(l act.Left) (others []string, foreground, orphan bool) {
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
func (w wording) graceLeft(l act.Left) time.Duration {
	return time.Unix(l.Deleted, 0).Sub(w.now).Round(time.Second)
}

func isPod(l act.Left) bool { return l.Object.Resource == "pods" && l.Object.Group() == "" }

// byUse puts what somebody can do something about before what waits for it.
func (w wording) byUse(left []act.Left) []act.Left {
	left = slices.Clone(left)
	slices.SortStableFunc(left, func(a, b act.Left) int { return cmp.Compare(a.Urgency(w.now), b.Urgency(w.now)) })
	return left
}

// mostLeft is how many of the objects that are left are named.
const mostLeft = 5

// remaining names some of the n objects that are left, and what they wait for.
func (w wording) remaining(left []act.Left, n int) string {
	var parts []string
	for i, l := range w.byUse(left) {
		if i == mostLeft {
			parts = append(parts, fmt.Sprintf("and %d more", n-mostLeft))
			break
		}
		parts = append(parts, shortName(l.Object)+" ("+w.waitsFor(l)+")")
	}
	return strings.Join(parts, ", ")
}

// headline says how far a wait has come.
func headline(p act.Progress, after time.Duration) string {
	return fmt.Sprintf("%d of %d gone after %s, wave %d of %d", p.Total-p.Remaining, p.Total, after.Round(time.Second), p.Wave, p.Waves)
}

// liveView are the lines that say on a terminal how far a wait has come and what is left, cut to its width.
func (w wording) liveView(p act.Progress, after time.Duration, width int) []string {
	lines := []string{headline(p, after)}
	left := w.byUse(p.Left)
	shown := left[:min(len(left), mostLeft)]
	column := 0
	for _, l := range shown {
		column = max(column, len([]rune(shortName(l.Object))))
	}
	column = min(column, width/2)
	for _, l := range shown {
		lines = append(lines, fmt.Sprintf("  %-*s  %s", column, shortenTo(shortName(l.Object), column+1), w.waitsFor(l)))
	}
	if more := p.Remaining - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	for i := range lines {
		lines[i] = shortenTo(lines[i], width)
	}
	return lines
}

// shortenTo cuts a line so that it is shorter than a terminal is wide: one that wrapped could not be written over.
func shortenTo(line string, width int) string {
	if r := []rune(line); len(r) >= width {
		return string(r[:max(width-2, 0)]) + "…"
	}
	return line
}
