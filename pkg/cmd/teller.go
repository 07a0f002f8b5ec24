package cmd

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// tellEach is up to how many objects each is told of when it is gone; of a larger cascade only those that were named are.
const tellEach = 60

const (
	// quietAfter is how long nothing happens before that is told where there is no terminal, and how often.
	quietAfter = 15 * time.Second
	// collectorAfter is how long the collector may take its time.
	collectorAfter = 30 * time.Second
)

// teller prints what happens: on a terminal with a line that is written over while something is left.
type teller struct {
	f        *deleteFlags
	known    *finalizer.Registry
	roots    map[string]bool
	each     bool
	start    time.Time
	told     time.Duration // of quiet
	blamed   bool
	terminal bool
	line     bool // stands on the terminal
}

func newTeller(f *deleteFlags, p *plannedDeletion) *teller {
	t := &teller{f: f, known: p.Known, roots: map[string]bool{}, each: len(p.Deleted) <= tellEach, start: time.Now(), terminal: printers.IsTerminal(f.ErrOut)}
	for _, id := range p.Roots {
		t.roots[p.Graph.Ref(id).UID] = true
	}
	return t
}

func (t *teller) tell(e act.Event) {
	f := t.f
	t.done()
	if f.output.format() == "name" {
		if e.What == act.Deleting {
			fmt.Fprintln(f.Out, render.Escape(kindOf(e.Object)+"/"+e.Object.Name))
		}
		return
	}
	if !f.output.isOwn() {
		return
	}
	switch e.What {
	case act.Deleting:
		fmt.Fprintf(f.Out, "deleting %s\n", withNamespace(e.Object, " in "))
	case act.Gone:
		if t.each || t.roots[e.Object.UID] {
			fmt.Fprintln(f.Out, withNamespace(e.Object, " deleted from "))
		}
	case act.Kept:
		fmt.Fprintf(f.ErrOut, "Warning: %s stays: its references to what is deleted were taken off meanwhile\n", withNamespace(e.Object, " in "))
	case act.Skipped:
		fmt.Fprintf(f.ErrOut, "Warning: %s was not deleted: %s\n", withNamespace(e.Object, " in "), render.Escape(e.Err.Error()))
	}
}

// tick says what is left: on a terminal every second, elsewhere when nothing has happened for a while.
func (t *teller) tick(left []act.Left, total int, quiet time.Duration) {
	if quiet < t.told {
		t.told = 0
	}
	t.blame(left, quiet)
	line := fmt.Sprintf("%d of %d gone after %s; left: %s", total-len(left), total, time.Since(t.start).Round(time.Second), remaining(left, t.known))
	switch {
	case t.terminal:
		fmt.Fprintf(t.f.ErrOut, "\r\x1b[K%s", shortenTo(line, render.TerminalWidth(t.f.ErrOut)))
		t.line = true
	case quiet >= t.told+quietAfter:
		t.told = quiet
		fmt.Fprintln(t.f.ErrOut, line)
	}
}

// blame says once that it is the collector that does nothing.
func (t *teller) blame(left []act.Left, quiet time.Duration) {
	if t.blamed || quiet < collectorAfter {
		return
	}
	for _, l := range left {
		if l.CollectorsTurn {
			t.blamed = true
			t.done()
			fmt.Fprintf(t.f.ErrOut, "Warning: the cluster's garbage collector has not acted on %s for %s; is kube-controller-manager running?\n",
				withNamespace(l.Object, " in "), quiet.Round(time.Second))
			return
		}
	}
}

// done takes the line away.
func (t *teller) done() {
	if t.line {
		fmt.Fprint(t.f.ErrOut, "\r\x1b[K")
		t.line = false
	}
}

// shortenTo cuts a line so that it does not wrap: one that did could not be written over.
func shortenTo(line string, width int) string {
	if width == 0 {
		width = 80
	}
	if r := []rune(line); len(r) >= width {
		return string(r[:width-2]) + "…"
	}
	return line
}

// withNamespace words an object as kubectl delete does: deployment.apps "web" deleted from shop namespace.
func withNamespace(r graph.Ref, preposition string) string {
	s := fmt.Sprintf("%s %q", render.Escape(kindOf(r)), r.Name)
	switch {
	case r.Namespace != "":
		return s + preposition + render.Escape(r.Namespace) + " namespace"
	case preposition == " deleted from ":
		return s + " deleted"
	}
	return s
}

// kindOf is the kind as kubectl writes it in messages: deployment.apps.
func kindOf(r graph.Ref) string {
	kind := strings.ToLower(r.Kind)
	if r.Group() != "" {
		kind += "." + r.Group()
	}
	return kind
}
