package render

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Plan is what there is to show of a plan.
type Plan struct {
	*plan.Plan
	// Rows are the tree of the roots, as a graph.Graph.Walk; nil for none.
	Rows iter.Seq[graph.Row]
	// Staying are the objects that are deleted although the manifests after the change have them.
	Staying []graph.ID
	// PruneWaits are the objects that who prunes does not delete by itself.
	PruneWaits []deletion.PruneWait
	// Gaps are those that can hide a dependent of what is deleted.
	Gaps []v1alpha1.Gap
	// Known is what is known of finalizers, which may be nothing.
	Known *finalizer.Registry
	// Asked is what the server has said to the deletes of others; nil if it was not asked.
	Asked *act.Asked
	// Unordered says why an ordered deletion has no order; empty if it has one.
	Unordered string
	// Unfinished says why the deletion would not complete; empty if it would, as far as is known.
	Unfinished string
	// Refusals are the objects that the client deletes whose deletion the server refuses.
	Refusals []v1alpha1.Protected
	// Unjudged says which deletes the server may refuse that was not asked; empty if that was not
	// looked at, or there are none.
	Unjudged string
}

// groupedFrom is how many rows make a plan too long to read; it is then counted instead, unless all
// of it is asked for.
const groupedFrom = 60

// PlanTable writes what becomes of each object, as a tree, and below it what is bad of that, a line
// that sums it up, what is known of the finalizers that will hold it up, and the rest. A wide one
// adds the policy of each delete and the uids, and writes all of a large plan, which is otherwise
// counted by wave and kind.
func PlanTable(w io.Writer, p Plan, s Style) error {
	write := p.tree
	if !s.Wide && p.long() {
		write = p.grouped
	}
	if err := write(w, s); err != nil {
		return err
	}
	for _, l := range p.lines() {
		if err := notes(w, s, l.color(s.Palette), l.text); err != nil {
			return err
		}
	}
	return nil
}

// lines are what is said below the table: what is bad leads, unless nothing is deleted anyway; what
// the plan comes to follows, with whom the finalizers wait for, and the rest of the remarks.
func (p Plan) lines() []remarkLine {
	plain := func(texts []string) (lines []remarkLine) {
		for _, text := range texts {
			lines = append(lines, remarkLine{text: text})
		}
		return lines
	}
	bad, rest := plain(denials(p)), []remarkLine(nil)
	for _, r := range p.remarks() {
		if r.bad {
			bad = append(bad, r)
		} else {
			rest = append(rest, r)
		}
	}
	sum := append(plain([]string{p.Summary()}), plain(p.explain())...)
	if p.deniedWhole() {
		return slices.Concat(sum, bad, rest)
	}
	return slices.Concat(bad, sum, rest)
}

// denials say what the user may not do, a line each.
func denials(p Plan) []string {
	lines := p.Denials()
	for i := range lines {
		lines[i] = Escape(lines[i])
	}
	return lines
}

// long reports whether there are more rows than a person reads.
func (p Plan) long() bool {
	switch {
	case p.Rows == nil:
		return false
	case len(p.Deleted) > groupedFrom: // which are all drawn
		return true
	}
	n := 0
	for range p.Rows {
		if n++; n > groupedFrom {
			return true
		}
	}
	return false
}

// planLine is a row of a plan that is drawn, or what takes the place of rows that are not.
type planLine struct {
	graph.Ref
	outcome
	drawn drawn
	// more says that drawn is all of the row.
	more bool
}

func (p Plan) columns(s Style) []column[planLine] {
	when := "WAVE"
	if len(p.Stages()) > 0 {
		when = "STAGE"
	}
	return besideDrawing(func(l planLine) bool { return l.more }, []column[planLine]{
		{header: "NAMESPACE", cell: func(l planLine) string { return Escape(l.Namespace) }, shorten: 2},
		nameColumn(s, func(l planLine) drawn { return l.drawn }),
		{header: when, cell: func(l planLine) string {
			if l.stage > 0 {
				return strconv.Itoa(l.stage)
			}
			return l.waves()
		}},
		{header: "OUTCOME", cell: func(l planLine) string { return l.word.paint(s.Palette) }},
		{header: "WAITS-FOR", cell: func(l planLine) string { return l.heldBy }, shorten: 1},
		{header: "BECAUSE", cell: func(l planLine) string { return l.because }, shorten: 1, drop: 1, beforeNames: true,
			least: func(planLine) int { return leastSentence },
			cut:   func(l planLine, to int) string { return briefReason(l.because, to) }},
		{header: "POLICY", cell: func(l planLine) string { return strings.ToLower(string(l.policy)) }, wide: true},
		{header: "UID", cell: func(l planLine) string { return Escape(l.UID) }, wide: true},
	})
}

func (p Plan) tree(w io.Writer, s Style) error {
	outcomes := p.outcomes()
	var all []graph.Row
	if p.Rows != nil {
		all = graph.Rows(p.Rows)
	}
	names := newNamer(Tree{Graph: p.Graph, Rows: all})
	drawing := s.draw(all)
	var lines []planLine
	var prefix prefixes
	for i, row := range drawing.rows {
		l := planLine{Ref: p.Graph.Ref(row.ID), outcome: outcomes[row.ID]}
		switch {
		case l.word != untouched:
		case !p.Graph.Observed(row.ID):
			l.word = unobserved(p.Graph.State(row.ID))
		case p.Graph.State(row.ID) == graph.Deleting:
			l.word, l.because = terminating, "it is being deleted already"
		}
		l.drawn = drawn{prefix.next(row), Escape(names.kind(l.Ref)) + "/" + Escape(l.Name), drawing.mark(row)}
		lines = append(lines, l)
		if more := drawing.more(i, &prefix); more != (drawn{}) {
			lines = append(lines, planLine{drawn: more, more: true})
		}
	}
	if err := writeRows(w, s, p.columns(s), lines); err != nil {
		return err
	}
	return drawing.footer(w, p.Graph, s)
}

// grouped counts the objects by wave, outcome, namespace and kind, and names those that wait for
// finalizers, are kept or deadlocked.
func (p Plan) grouped(w io.Writer, s Style) error {
	type class struct {
		fate
		namespace, kind string
	}
	counts := map[class]int{}
	for i, f := range p.fates() {
		if f.word != untouched {
			ref := p.Graph.Ref(graph.ID(i))
			counts[class{f, ref.Namespace, ref.Kind}]++
		}
	}
	classes := slices.SortedFunc(maps.Keys(counts), func(a, b class) int {
		return cmp.Or(cmp.Compare(a.wave, b.wave), cmp.Compare(a.last, b.last),
			strings.Compare(a.word.String(), b.word.String()),
			strings.Compare(a.namespace, b.namespace), strings.Compare(a.kind, b.kind))
	})
	if err := writeRows(w, s, []column[class]{
		{header: "NAMESPACE", cell: func(c class) string { return orDash(Escape(c.namespace)) }, shorten: 1},
		{header: "KIND", cell: func(c class) string { return Escape(c.kind) }, shorten: 1},
		{header: "COUNT", cell: func(c class) string { return strconv.Itoa(counts[c]) }},
		{header: "WAVE", cell: func(c class) string { return orDash(c.waves()) }},
		{header: "OUTCOME", cell: func(c class) string { return c.word.paint(s.Palette) }},
	}, classes); err != nil {
		return err
	}
	return notes(w, s, nil, "(there are many objects, so they are counted: -o wide shows each of them)")
}

// Summary is the plan in a line; Denials and Remarks are what else there is to say of it. A
// deletion of which a policy denies a part is not performed at all, unlike a run, which has no
// roots.
func (p Plan) Summary() string {
	if !p.deniedWhole() {
		return p.does()
	}
	names := phrase.Words(p.Denied, func(d plan.Denied) string { return KindName(p.Graph.Ref(d.Object)) })
	return fmt.Sprintf("nothing is deleted: policy %s denies the deletion of %s; without it, this %s",
		Escape(p.Denied[0].Policy), few(names), p.does())
}

// deniedWhole reports whether a policy of kubectl gc protect has nothing deleted.
func (p Plan) deniedWhole() bool { return len(p.Denied) > 0 && len(p.Roots) > 0 }

// does is what the plan does in a line.
func (p Plan) does() string {
	kinds := map[string]bool{}
	for _, id := range p.Deleted {
		r := p.Graph.Ref(id)
		kinds[r.Group()+"/"+r.Kind] = true
	}
	atLeast := ""
	if len(p.Gaps) > 0 {
		atLeast = "at least "
	}
	s := fmt.Sprintf("deletes %s%s of %s in %s", atLeast, phrase.Count(len(p.Deleted), "object"),
		phrase.Count(len(kinds), "kind"), p.steps())
	if n := p.blocks(); n > 0 {
		s += fmt.Sprintf("; makes %s block first", phrase.Count(n, "reference"))
	}
	if n := len(p.Kept); n > 0 {
		s += fmt.Sprintf("; %d kept", n)
	}
	if holders := p.holders(); len(holders) > 0 {
		s += fmt.Sprintf("; waits for the finalizers of %s: %s", phrase.Count(len(holders), "object"), few(holders))
	}
	if names := p.unconfirmed(); len(names) > 0 {
		s += "; not complete until somebody confirms the deletion of " + few(names)
	}
	if n := len(p.Deadlocked); n > 0 {
		s += fmt.Sprintf("; the deletion of %s cannot complete: %s", phrase.Count(n, "object"), p.few(plan.Objects(p.Deadlocked)))
	}
	if p.DependsOnTiming {
		s += "; the result depends on the collector's timing"
		if len(p.Unsettled) > 0 {
			s += ": " + p.few(p.Unsettled)
		}
	}
	return s
}

// steps counts the waves, or the stages of an ordered deletion.
func (p Plan) steps() string {
	if n := len(p.Stages()); n > 0 {
		return phrase.Count(n, "stage")
	}
	return phrase.Count(p.Waves(), "wave")
}

// blocks counts the references that are made to block before anything is deleted.
func (p Plan) blocks() int {
	n := 0
	for _, a := range p.Actions {
		if a.Verb == plan.VerbBlock {
			n += len(a.Edges)
		}
	}
	return n
}

// maxNamed is how many objects a summary names.
const maxNamed = 3

// few names the first of some objects, and counts the others.
func few(names []string) string { return phrase.FirstFew(names, maxNamed) }

// holders are the objects that finalizers of others hold.
func (p Plan) holders() []string {
	var names, last []string // those that go by themselves are named last
	for _, b := range p.Blockers {
		if len(b.Finalizers) == 0 {
			continue
		}
		name := fmt.Sprintf("%s (%s)", KindName(p.Graph.Ref(b.Object)), Escape(strings.Join(b.Finalizers, ", ")))
		if p.clears(b) {
			last = append(last, name)
		} else {
			names = append(names, name)
		}
	}
	return append(names, last...)
}

// Printed returns the plan with its sentences as the versioned object that -o json prints. All gaps
// are in it; those of the Plan decide whether it is complete.
func (p Plan) Printed(gaps []v1alpha1.Gap) *v1alpha1.Plan {
	out := p.Plan.Printed(gaps)
	out.Complete, out.Findings = len(p.Gaps) == 0, p.Findings()
	if p.Asked != nil {
		out.Asked = &p.Asked.Asked
	}
	for i, a := range p.Actions {
		out.Actions[i].Because = p.Because(a.Object, a.Because)
	}
	for i, b := range p.Blockers {
		out.Blockers[i].Because = p.WaitsFor(b)
	}
	say := func(survivors []v1alpha1.Survivor, list []plan.ObjectReason) {
		for i, s := range list {
			survivors[i].Because = p.Because(s.Object, s.Because)
		}
	}
	say(out.Survivors, p.Kept)
	say(out.Stuck, p.Deadlocked)
	say(out.Remaining, p.Blocked)
	return out
}

// heldBy says who has to remove the finalizers of an object, and what that does.
func (p Plan) heldBy(b plan.Blocker) string {
	ref := p.Graph.Ref(b.Object)
	var known, unknown []string
	for _, name := range b.Finalizers {
		k, ok := p.Known.Lookup(name, ref.Group(), ref.Kind)
		switch {
		case !ok:
			unknown = append(unknown, name)
		case len(b.Finalizers) == 1:
			known = append(known, k.OnCompletion())
		default:
			known = append(known, name+": "+k.OnCompletion())
		}
	}
	if len(unknown) > 0 {
		known = append(known, fmt.Sprintf("the controller that added %s has to remove it", strings.Join(unknown, ", ")))
	}
	return strings.Join(known, "; ")
}

// explain says, of each finalizer that will hold something and is known, who removes it and what
// that does, a line each.
func (p Plan) explain() []string {
	var lines []string
	for _, b := range p.Blockers {
		ref := p.Graph.Ref(b.Object)
		for _, name := range b.Finalizers {
			if k, ok := p.Known.Lookup(name, ref.Group(), ref.Kind); ok {
				if line := Escape(name + ": " + k.OnCompletion()); !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}
