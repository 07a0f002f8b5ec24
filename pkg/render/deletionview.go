package render

import (
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
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
	out, errOut    io.Writer
	lines          DeletionLines
	waits          Waits
	clientGC       bool
	remedy         string // of a collector that does nothing
	roots          map[string]bool
	each           bool
	start          time.Time
	told           time.Duration // of quiet
	collectorNamed bool
	terminal       bool
	standing       int // lines that stand on the terminal
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
	return &DeletionView{
		out: out, errOut: errOut, lines: lines, waits: WaitsOf(p), clientGC: clientGC,
		remedy: "--gc=client does the collector's part", roots: p.Graph.UIDs(p.Roots),
		each: len(p.Deleted) <= tellEach, terminal: printers.IsTerminal(errOut),
	}
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
	maps.Copy(v.roots, p.Graph.UIDs(p.Roots))
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
	v.nameCollector(p)
	v.waits.Now = time.Now()
	after := v.waits.Now.Sub(v.start)
	switch {
	case v.terminal:
		v.Done()
		width := terminalWidth(v.errOut)
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

// nameCollector says once that it is the collector that does nothing.
func (v *DeletionView) nameCollector(p act.Progress) {
	if v.collectorNamed || p.Quiet < collectorAfter || v.clientGC {
		return
	}
	if l := p.CollectorsTurn; l != nil {
		v.collectorNamed = true
		v.Done()
		Warn(v.errOut, "the cluster's garbage collector has not acted on %s for %s; is kube-controller-manager running? %s",
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

// DeletionPlan is what there is to show of the plan of a deletion; without a Plan if nothing was found
// to delete.
func DeletionPlan(p *deletion.Planned) Plan {
	if p.Plan == nil {
		return Plan{}
	}
	return Plan{Plan: p.Plan, Rows: p.Rows(), Staying: p.Staying(), PruneWaits: p.PruneWaits,
		Gaps: p.Hiding, Known: p.Known, Asked: p.Asked, Unordered: p.OrderSentence(),
		Unfinished: p.WouldBeStuck(), Refusals: p.Refusals}
}

// DeletionWords are the words of a deletion's errors.
func DeletionWords(p *deletion.Planned) deletion.Words {
	return deletion.Words{
		Remaining: func(left []act.Blocked) string { return WaitsOf(p).Remaining(left, len(left)) },
	}
}

// tellEach is up to how many objects each is told of when it is gone; of a larger cascade only
// those that were named are.
const tellEach = 60

// Event prints what happened to an object.
func (v *DeletionView) Event(e act.Event) {
	v.Done()
	if v.lines == NameLines && e.Type == act.Deleting || v.lines == GoneLines && e.Type == act.Gone {
		fmt.Fprintln(v.out, TypeName(e.Action.Object))
	}
	if v.lines != EventLines {
		return
	}
	switch e.Type {
	case act.Deleting:
		fmt.Fprintf(v.out, "deleting %s\n", Quoted(e.Action.Object))
	case act.Gone:
		if v.each || v.roots[e.Action.Object.UID] {
			fmt.Fprintln(v.out, deletedFrom(e.Action.Object))
		}
	case act.Kept:
		Warn(v.errOut, "%s is kept: its references to the deleted owners were removed meanwhile",
			Quoted(e.Action.Object))
	case act.Ungraceful:
		Warn(v.errOut, "%s is being deleted with its own grace period of %ds, which cannot be lengthened; --gc=client deletes dependents with the requested one",
			Quoted(e.Action.Object), e.GracePeriodSeconds)
	case act.Unobserved:
		Warn(v.errOut, "the controller of %s has not observed its deletion; it may adopt the orphans again",
			Quoted(e.Action.Object))
	case act.Skipped:
		Warn(v.errOut, "%s was not deleted: %s", Quoted(e.Action.Object), Escape(e.Err.Error()))
	}
}

// Collected prints a write that does the collector's part. With a wait it is not needed: what is
// gone is told then.
func (v *DeletionView) Collected(e plan.Event) {
	if e.Err == nil && v.lines == EventLines {
		fmt.Fprintln(v.out, ActionLine(e.Action))
	}
}

// mostLeftOut is how many of the objects that are left out are named.
const mostLeftOut = 10

// WarnPlanned writes what a person has to know of a deletion besides its plan.
func WarnPlanned(errOut io.Writer, p *deletion.Planned) {
	if p.Unscoped {
		Warn(errOut, "deleting cluster-scoped resources, not scoped to the provided namespace")
	}
	WarnGaps(errOut, p.Gaps)
	for i, o := range p.LeftOut {
		if i == mostLeftOut {
			Warn(errOut, "%d more are not deleted: they no longer match the selector, or another object has their name",
				len(p.LeftOut)-i)
			return
		}
		Warn(errOut, "%s is not deleted: %v", Quoted(o.Object), o.Err)
	}
}

// WarnNamespaces writes what a deletion does not do that does the garbage collector's part.
func WarnNamespaces(errOut io.Writer, p *deletion.Planned) {
	for _, id := range p.Roots {
		if r := p.Graph.Ref(id); r.Resource == "namespaces" && r.Group() == "" {
			Warn(errOut, "the namespace controller of kube-controller-manager deletes the content of %s; --gc=client does only the garbage collector's part", Quoted(r))
		}
	}
}

// WarnResult writes what has happened besides the plan.
func WarnResult(errOut io.Writer, r *deletion.Result) {
	warnAdopted(errOut, r.Orphaned)
	warnUnseen(errOut, r.Unseen)
	warnUnplanned(errOut, r.Unplanned, r.Archived)
}

// warnAdopted tells of orphans that have a new controller, as they may have if its selector
// matches.
func warnAdopted(errOut io.Writer, orphaned []act.Orphan) {
	for _, o := range orphaned {
		if o.Adopter != nil {
			Warn(errOut, "%s was orphaned and then adopted by %s", Quoted(o.Object),
				Escape(o.Adopter.Kind+"/"+o.Adopter.Name))
		}
	}
}

// warnUnseen tells of what was not waited for to its end, because it may neither be watched, listed
// nor read. As for kubectl that is no error: the deletion was asked for, and goes on.
func warnUnseen(errOut io.Writer, unseen []act.Unseen) {
	type place struct{ resource, group, namespace string }
	for _, there := range groups(unseen, func(u act.Unseen) (place, act.Unseen) {
		return place{u.Object.Resource, u.Object.Group(), u.Object.Namespace}, u
	}) {
		names := phrase.Words(there, func(u act.Unseen) string { return KindName(u.Object) })
		Warn(errOut, "cannot wait for %s, whose deletion continues: %s", sortedFew(names),
			Escape(phrase.Shorten(there[0].Err.Error())))
	}
}

// warnUnplanned tells of what the cluster's collector has deleted beyond the plan. Nobody can keep
// it from doing so.
func warnUnplanned(errOut io.Writer, unplanned []graph.Ref, archived bool) {
	if len(unplanned) == 0 {
		return
	}
	missing := ""
	if archived {
		missing = " and the archive"
	}
	Warn(errOut, "the collector also deleted dependents that are not in the plan%s: %s", missing,
		sortedFew(kindNames(unplanned...)))
}
