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

// groupedFrom is how many rows make a plan too long to read; it is then counted instead, unless all of it is asked for.
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

func (p Plan) tree(w io.Writer, s Style) error {
	outcomes := p.outcomes()
	var all []graph.Row
	if p.Rows != nil {
		all = graph.Rows(p.Rows)
	}
	palette, wide := s.Palette, s.Wide
	header := []string{"NAMESPACE", "NAME", "WAVE", "OUTCOME", "WAITS-FOR", "BECAUSE"}
	if len(p.Stages()) > 0 {
		header[2] = "STAGE"
	}
	if wide {
		header = append(header, "POLICY", "UID")
	}
	names := newNamer(Tree{Graph: p.Graph, Rows: all})
	drawing := s.draw(all)
	var rows [][]string
	var prefix prefixes
	for i, row := range drawing.rows {
		ref := p.Graph.Ref(row.ID)
		o := outcomes[row.ID]
		if o.word == untouched && !p.Graph.Observed(row.ID) {
			o.word = unobserved(p.Graph.State(row.ID))
		}
		wave := "-"
		switch {
		case o.stage > 0:
			wave = strconv.Itoa(o.stage)
		case o.wave > 0:
			wave = strconv.Itoa(o.wave)
		}
		name := paint(palette.dim, prefix.next(row)) + paint(palette.kind, Escape(names.kind(ref))) + "/" + Escape(ref.Name) + paint(palette.dim, drawing.mark(row))
		cells := []string{
			orDash(Escape(ref.Namespace)), name, wave, o.word.paint(palette), orDash(o.heldBy), orDash(o.because),
		}
		if wide {
			cells = append(cells, orDash(strings.ToLower(string(o.policy))), orDash(Escape(ref.UID)))
		}
		rows = append(rows, cells)
		if more := drawing.more(i, &prefix, palette); more != "" {
			rows = append(rows, slices.Insert(make([]string, len(header)-1), 1, more))
		}
	}
	narrow := !s.fit(header, rows, 4, 5)
	if narrow {
		header = header[:5]
		for i := range rows {
			rows[i] = rows[i][:5]
		}
	}
	if err := s.writeTable(w, header, rows); err != nil {
		return err
	}
	if narrow {
		fmt.Fprintln(w, "(the terminal is too narrow for the column BECAUSE: -o wide shows it)")
	}
	return drawing.footer(w, p.Graph)
}

// grouped counts the objects by wave, outcome, namespace and kind, and names those that wait for finalizers, are kept or deadlocked.
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
		return cmp.Or(cmp.Compare(a.wave, b.wave), strings.Compare(a.word.String(), b.word.String()), strings.Compare(a.namespace, b.namespace), strings.Compare(a.kind, b.kind))
	})
	var rows [][]string
	for _, c := range classes {
		rows = append(rows, []string{orDash(Escape(c.namespace)), Escape(c.kind), strconv.Itoa(counts[c]), strconv.Itoa(c.wave), c.word.paint(s.Palette)})
	}
	return s.writeTable(w, []string{"NAMESPACE", "KIND", "COUNT", "WAVE", "OUTCOME"}, rows)
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
	s := fmt.Sprintf("deletes %s%s of %s in %s", atLeast, phrase.Count(len(p.Deleted), "object"), phrase.Count(len(kinds), "kind"), p.steps())
	if n := p.blocks(); n > 0 {
		s += fmt.Sprintf("; makes %s block first", phrase.Count(n, "reference"))
	}
	if n := len(p.Kept); n > 0 {
		s += fmt.Sprintf("; %d kept", n)
	}
	if holders := p.holders(); len(holders) > 0 {
		s += fmt.Sprintf("; waits for the finalizers of %s: %s", phrase.Count(len(holders), "object"), phrase.FirstFew(holders, maxNamed))
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
			names = append(names, fmt.Sprintf("%s (%s)", KindName(p.Graph.Ref(b.Object)), Escape(strings.Join(b.Finalizers, ", "))))
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
