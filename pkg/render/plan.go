package render

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
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
	// Gaps are those that can hide a dependent of what is deleted.
	Gaps []v1alpha1.Gap
	// Known is what is known of finalizers, which may be nothing.
	Known *finalizer.Registry
	// Asked is what the server has said to the deletes of others; nil if it was not asked.
	Asked *act.Asked
	// Unordered says why an ordered deletion has no order; empty if it has one.
	Unordered string
}

// groupedFrom is how many rows make a plan too long to read; it is then counted instead, unless all
// of it is asked for.
const groupedFrom = 60

// PlanTable writes what becomes of each object, as a tree, what is known of the finalizers
// that will hold it up, and a line that sums it up. A wide one adds the policy of each delete and
// the uids, and writes all of a large plan, which is otherwise counted by wave and kind.
func PlanTable(w io.Writer, p Plan, s Style) error {
	write := p.tree
	if !s.Wide && p.long() {
		write = p.grouped
	}
	if err := write(w, s); err != nil {
		return err
	}
	if err := p.explain(w); err != nil {
		return err
	}
	for _, line := range slices.Concat(denials(p), []string{p.Summary()}, p.Remarks()) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// denials say what the user may not do, a line each.
func denials(p Plan) []string {
	lines := p.Denials()
	for i := range lines {
		lines[i] = Escape(lines[i])
	}
	return lines
}

// long says whether there are more rows than a person reads.
func (p Plan) long() bool {
	if p.Rows == nil {
		return false
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
	drawn string
	// more says that drawn is all of the row.
	more bool
}

func (p Plan) columns(s Style) []column[planLine] {
	of := func(header string, cell func(planLine) string) column[planLine] {
		return column[planLine]{header: header, cell: func(l planLine) string {
			if l.more {
				return ""
			}
			return orDash(cell(l))
		}}
	}
	shortened := func(c column[planLine]) column[planLine] {
		c.shorten = 1
		return c
	}
	wide := func(c column[planLine]) column[planLine] {
		c.wide = true
		return c
	}
	when := "WAVE"
	if len(p.Stages()) > 0 {
		when = "STAGE"
	}
	return []column[planLine]{
		of("NAMESPACE", func(l planLine) string { return Escape(l.Namespace) }),
		{header: "NAME", cell: func(l planLine) string { return l.drawn }},
		of(when, func(l planLine) string {
			if n := cmp.Or(l.stage, l.wave); n > 0 {
				return strconv.Itoa(n)
			}
			return ""
		}),
		of("OUTCOME", func(l planLine) string { return l.word.paint(s.Palette) }),
		shortened(of("WAITS-FOR", func(l planLine) string { return l.heldBy })),
		shortened(of("BECAUSE", func(l planLine) string { return l.because })),
		wide(of("POLICY", func(l planLine) string { return strings.ToLower(string(l.policy)) })),
		wide(of("UID", func(l planLine) string { return Escape(l.UID) })),
	}
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
		if l.word == untouched && !p.Graph.Observed(row.ID) {
			l.word = unobserved(p.Graph.State(row.ID))
		}
		l.drawn = paint(s.dim, prefix.next(row)) + paint(s.kind, Escape(names.kind(l.Ref))) + "/" + Escape(l.Name) +
			paint(s.dim, drawing.mark(row))
		lines = append(lines, l)
		if more := drawing.more(i, &prefix, s.Palette); more != "" {
			lines = append(lines, planLine{drawn: more, more: true})
		}
	}
	columns := p.columns(s)
	header, cells, fits := lay(s, columns, lines)
	narrow := !fits
	if narrow { // BECAUSE is the last column of a table that is not wide
		header = header[:len(header)-1]
		for i := range cells {
			cells[i] = cells[i][:len(header)]
		}
	}
	if err := s.writeTable(w, header, cells); err != nil {
		return err
	}
	if narrow {
		fmt.Fprintln(w, "(the terminal is too narrow for the column BECAUSE: -o wide shows it)")
	}
	return drawing.footer(w, p.Graph)
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
	classes := make([]class, 0, len(counts))
	for c := range counts {
		classes = append(classes, c)
	}
	slices.SortFunc(classes, func(a, b class) int {
		return cmp.Or(cmp.Compare(a.wave, b.wave), strings.Compare(a.word.String(), b.word.String()),
			strings.Compare(a.namespace, b.namespace), strings.Compare(a.kind, b.kind))
	})
	return writeRows(w, s, []column[class]{
		{header: "NAMESPACE", cell: func(c class) string { return orDash(Escape(c.namespace)) }},
		{header: "KIND", cell: func(c class) string { return Escape(c.kind) }},
		{header: "COUNT", cell: func(c class) string { return strconv.Itoa(counts[c]) }},
		{header: "WAVE", cell: func(c class) string { return strconv.Itoa(c.wave) }},
		{header: "OUTCOME", cell: func(c class) string { return c.word.paint(s.Palette) }},
	}, classes)
}

// Summary is the plan in a line; Denials and Remarks are what else there is to say of it.
func (p Plan) Summary() string {
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
		s += fmt.Sprintf("; waits for the finalizers of %s: %s", phrase.Count(len(holders), "object"),
			phrase.FirstFew(holders, maxNamed))
	}
	if n := len(p.Deadlocked); n > 0 {
		s += fmt.Sprintf("; the deletion of %s cannot complete: %s", phrase.Count(n, "object"), p.objects(p.Deadlocked))
	}
	if p.DependsOnTiming {
		s += "; the result depends on the collector's timing"
		if len(p.Unsettled) > 0 {
			s += ": " + phrase.FirstFew(KindNamesOf(p.Graph, p.Unsettled), maxNamed)
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

// holders are the objects that finalizers of others hold.
func (p Plan) holders() []string {
	var names []string
	for _, b := range p.Blockers {
		if len(b.Finalizers) > 0 {
			names = append(names, fmt.Sprintf("%s (%s)", KindName(p.Graph.Ref(b.Object)),
				Escape(strings.Join(b.Finalizers, ", "))))
		}
	}
	return names
}

func (p Plan) objects(list []plan.ObjectReason) string {
	var names []string
	for _, s := range list {
		names = append(names, KindName(p.Graph.Ref(s.Object)))
	}
	return phrase.FirstFew(names, maxNamed)
}
