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

// teller prints what happens: on a terminal with lines that are written over while something is left.
type teller struct {
	f        *deleteFlags
	known    *finalizer.Registry
	roots    map[string]bool
	each     bool
	start    time.Time
	told     time.Duration // of quiet
	blamed   bool
	terminal bool
	lines    int // that stand on the terminal
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
	case act.Ungraceful:
		fmt.Fprintf(f.ErrOut, "Warning: %s is being deleted with a grace period of %ds, its own, which cannot be lengthened; --gc=client deletes dependents with the one asked for\n",
			withNamespace(e.Object, " in "), e.GracePeriodSeconds)
	case act.Unobserved:
		fmt.Fprintf(f.ErrOut, "Warning: the controller of %s has not taken notice of its deletion; it may adopt again what was orphaned\n", withNamespace(e.Object, " in "))
	case act.Skipped:
		fmt.Fprintf(f.ErrOut, "Warning: %s was not deleted: %s\n", withNamespace(e.Object, " in "), render.Escape(e.Err.Error()))
	}
}

// tick says what is left: on a terminal every second, elsewhere when nothing has happened for a while.
func (t *teller) tick(p act.Progress) {
	if p.Quiet < t.told {
		t.told = 0
	}
	t.blame(p)
	now := time.Now()
	switch {
	case t.terminal:
		t.done()
		width := render.TerminalWidth(t.f.ErrOut)
		if width == 0 {
			width = 80
		}
		lines := t.says(now).liveView(p, now.Sub(t.start), width)
		fmt.Fprint(t.f.ErrOut, strings.Join(lines, "\n"))
		t.lines = len(lines)
	case p.Quiet >= t.told+quietAfter:
		t.told = p.Quiet
		fmt.Fprintf(t.f.ErrOut, "%s; left: %s\n", headline(p, now.Sub(t.start)), t.says(now).remaining(p.Left, p.Remaining))
	}
}

func (t *teller) says(now time.Time) wording { return wording{t.known, now} }

// blame says once that it is the collector that does nothing.
func (t *teller) blame(p act.Progress) {
	if t.blamed || p.Quiet < collectorAfter || t.f.gc == "client" {
		return
	}
	if l := p.CollectorsTurn; l != nil {
		t.blamed = true
		t.done()
		fmt.Fprintf(t.f.ErrOut, "Warning: the cluster's garbage collector has not acted on %s for %s; is kube-controller-manager running? --gc=client does the collector's part\n",
			withNamespace(l.Object, " in "), p.Quiet.Round(time.Second))
	}
}

// done takes the lines away.
func (t *teller) done() {
	if t.lines == 0 {
		return
	}
	if t.lines > 1 {
		fmt.Fprintf(t.f.ErrOut, "\x1b[%dA", t.lines-1)
	}
	fmt.Fprint(t.f.ErrOut, "\r\x1b[J")
	t.lines = 0
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

// shortName is an object as the tree names it.
func shortName(r graph.Ref) string { return render.Escape(r.Kind) + "/" + render.Escape(r.Name) }

// kindOf is the kind as kubectl writes it in messages: deployment.apps.
func kindOf(r graph.Ref) string {
	kind := strings.ToLower(r.Kind)
	if r.Group() != "" {
		kind += "." + r.Group()
	}
	return kind
}
