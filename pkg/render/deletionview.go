package render

import (
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
)

const (
	// quietAfter is how long nothing happens before that is told where there is no terminal, and
	// how often.
	quietAfter = 15 * time.Second
	// collectorAfter is how long the collector may take its time.
	collectorAfter = 30 * time.Second
)

// DeletionView prints what happens in a deletion: on a terminal with lines that are written over
// while something is left. Nil prints nothing.
type DeletionView struct {
	out, errOut io.Writer
	lines       DeletionLines
	waits       Waits
	clientGC    bool
	remedy      string // of a collector that does nothing
	roots       map[string]bool
	each        bool
	start       time.Time
	told        time.Duration // of quiet
	blamed      bool
	terminal    bool
	standing    int // lines that stand on the terminal
}

// DeletionLines says for what a line is printed.
type DeletionLines uint8

// For what a line is printed.
const (
	// EventLines are lines for people, for each event.
	EventLines DeletionLines = iota
	// NameLines are the names of the objects that are deleted.
	NameLines
	// GoneLines are the names of the objects, each when it is deleted.
	GoneLines
	// NoLines leaves the output to an object that is printed at the end.
	NoLines
)

// NewDeletionView returns the view of a deletion. With clientGC the cluster's collector is not
// waited for.
func NewDeletionView(out, errOut io.Writer, lines DeletionLines, p *deletion.Planned, clientGC bool) *DeletionView {
	v := &DeletionView{
		out: out, errOut: errOut, lines: lines, waits: WaitsOf(p), clientGC: clientGC,
		remedy: "--gc=client does the collector's part", roots: map[string]bool{},
		each: len(p.Deleted) <= tellEach, terminal: printers.IsTerminal(errOut),
	}
	for _, id := range p.Roots {
		v.roots[p.Graph.Ref(id).UID] = true
	}
	return v
}

// NewWaitView returns the view of a wait for a deletion that somebody else began.
func NewWaitView(out, errOut io.Writer, lines DeletionLines, p *deletion.Planned) *DeletionView {
	v := NewDeletionView(out, errOut, lines, p, false)
	v.remedy = "kubectl gc run does the collector's part"
	v.Begin()
	return v
}

// Stage says that a stage of an ordered deletion begins.
func (v *DeletionView) Stage(n, of int, p *deletion.Planned) {
	v.Done()
	for _, id := range p.Roots {
		v.roots[p.Graph.Ref(id).UID] = true
	}
	if v.lines == EventLines {
		fmt.Fprintf(v.errOut, "stage %d of %d: deletes %s\n", n, of, few(KindNamesOf(p.Graph, p.Roots)))
	}
}

// Begin says that the deletion begins now.
func (v *DeletionView) Begin() { v.start = time.Now() }

// Tick says what is left: on a terminal every second, elsewhere when nothing has happened for a
// while.
func (v *DeletionView) Tick(p act.Progress) {
	if p.Quiet < v.told {
		v.told = 0
	}
	v.blame(p)
	v.waits.Now = time.Now()
	after := v.waits.Now.Sub(v.start)
	switch {
	case v.terminal:
		v.Done()
		width := TerminalWidth(v.errOut)
		if width == 0 {
			width = 80
		}
		lines := v.waits.liveView(p, after, width)
		fmt.Fprint(v.errOut, strings.Join(lines, "\n"))
		v.standing = len(lines)
	case p.Quiet >= v.told+quietAfter:
		v.told = p.Quiet
		fmt.Fprintf(v.errOut, "%s; remaining: %s\n", headline(p, after), v.waits.Remaining(p.Blocked, p.BlockedCount))
	}
}

// blame says once that it is the collector that does nothing.
func (v *DeletionView) blame(p act.Progress) {
	if v.blamed || p.Quiet < collectorAfter || v.clientGC {
		return
	}
	if l := p.CollectorsTurn; l != nil {
		v.blamed = true
		v.Done()
		fmt.Fprintf(
			v.errOut, "Warning: the cluster's garbage collector has not acted on %s for %s; is kube-controller-manager running? %s\n",
			Quoted(l.Object), p.Quiet.Round(time.Second), v.remedy)
	}
}

// Done removes the lines that stand on the terminal.
func (v *DeletionView) Done() {
	if v == nil || v.standing == 0 {
		return
	}
	if v.standing > 1 {
		fmt.Fprintf(v.errOut, "\x1b[%dA", v.standing-1)
	}
	fmt.Fprint(v.errOut, "\r\x1b[J")
	v.standing = 0
}
