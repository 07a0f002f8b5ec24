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

// outcome is what becomes of one object.
type outcome struct {
	wave    int
	stage   int // of an ordered deletion
	word    string
	policy  plan.Policy
	because string
	heldBy  string
}

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

// outcomes are by object. The sentences that say why are most of the memory, and a plan that is counted needs none: sentence returns an empty one then.
func (p Plan) outcomes(sentence func(graph.ID, plan.Reason) string) map[graph.ID]outcome {
	outcomes := make(map[graph.ID]outcome, len(p.Deleted))
	for _, a := range p.Actions {
		o := outcomes[a.Object]
		switch a.Verb {
		case plan.VerbDelete:
			o.wave, o.stage, o.word, o.policy, o.because = a.Wave, a.Stage, "deleted", a.Policy, sentence(a.Object, a.Because)
		case plan.VerbOrphan:
			if o.word == "" {
				o.wave = a.Wave
			}
		case plan.VerbUnblock:
			if o.word == "" {
				o.wave, o.word, o.because = a.Wave, "unblocked", sentence(a.Object, a.Because)
			}
		case plan.VerbRemoveFinalizer: // of an owner that was being deleted before
			if o.word == "" {
				o.wave, o.word, o.because = a.Wave, "deleted", sentence(a.Object, a.Because)
			}
		}
		outcomes[a.Object] = o
	}
	set := func(list []plan.ObjectReason, word string) {
		for _, s := range list {
			o := outcomes[s.Object]
			o.word, o.because = word, sentence(s.Object, s.Because)
			outcomes[s.Object] = o
		}
	}
	set(p.Kept, "kept")
	for _, s := range p.Kept {
		if s.Because.Code == plan.OwnerOrphans {
			o := outcomes[s.Object]
			o.word = "orphaned"
			outcomes[s.Object] = o
		}
	}
	for _, r := range p.Protected() {
		o := outcomes[r.Object]
		o.word, o.because = "protected", "the server refuses its deletion: "+Escape(Shorten(r.Message))
		outcomes[r.Object] = o
	}
	set(p.Deadlocked, "deadlocked")
	set(p.Stuck(), "stuck")
	for _, id := range p.Unsettled {
		o := outcomes[id]
		if o.word == "deadlocked" || o.word == "stuck" {
			continue // the summary names it, and what to do about it
		}
		o.because = strings.TrimPrefix(o.because+"; it depends on the collector's timing", "; ")
		outcomes[id] = o
	}
	for _, f := range p.Forbidden {
		o := outcomes[f.Object]
		o.word, o.because = "forbidden", "you may not "+f.Verb+" it"
		outcomes[f.Object] = o
	}
	for _, b := range p.Blockers {
		o := outcomes[b.Object]
		o.heldBy = p.holder(b)
		outcomes[b.Object] = o
	}
	return outcomes
}

func (p Plan) tree(w io.Writer, s Style) error {
	outcomes := p.outcomes(p.Because)
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
		if o.word == "" && !p.Graph.Observed(row.ID) {
			o.word = strings.ToLower(p.Graph.State(row.ID).String()) // absent or unknown
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
			orDash(Escape(ref.Namespace)), name, wave, o.paint(palette), orDash(o.heldBy), orDash(o.because),
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

func (o outcome) paint(p Palette) string {
	switch o.word {
	case "":
		return "-"
	case "kept", "orphaned", "absent", "unblocked":
		return paint(p.kind, o.word)
	case "deadlocked", "stuck", "protected", "forbidden":
		return paint(p.bad, o.word)
	}
	return paint(p.warn, o.word)
}

// grouped counts the objects by wave, outcome, namespace and kind, and names those that wait for finalizers, are kept or deadlocked.
func (p Plan) grouped(w io.Writer, s Style) error {
	outcomes := p.outcomes(func(graph.ID, plan.Reason) string { return "" })
	type class struct {
		wave                  int
		word, namespace, kind string
	}
	counts := map[class]int{}
	for id, o := range outcomes {
		if o.word != "" {
			ref := p.Graph.Ref(id)
			counts[class{o.wave, o.word, ref.Namespace, ref.Kind}]++
		}
	}
	classes := make([]class, 0, len(counts))
	for c := range counts {
		classes = append(classes, c)
	}
	slices.SortFunc(classes, func(a, b class) int {
		return cmp.Or(cmp.Compare(a.wave, b.wave), strings.Compare(a.word, b.word), strings.Compare(a.namespace, b.namespace), strings.Compare(a.kind, b.kind))
	})
	var rows [][]string
	for _, c := range classes {
		rows = append(rows, []string{orDash(Escape(c.namespace)), Escape(c.kind), strconv.Itoa(counts[c]), strconv.Itoa(c.wave), outcome{word: c.word}.paint(s.Palette)})
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
