package render

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fatih/color"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// UnfinalizePlan writes what would be done about finalizers, what is known of them, what follows,
// and what would be left behind. With numbers the finalizers are there to be chosen from, and
// nothing is counted.
func UnfinalizePlan(w io.Writer, p *unfinalize.Planned, numbers bool, s Style) error {
	if err := verdictTable(w, verdicts(p), numbers, s); err != nil {
		return err
	}
	lines := slices.Concat(explanations(p), afterLines(p), outsideLines(p), strandedLines(p))
	if !numbers {
		lines = append(lines, unfinalizeSummary(p))
	}
	return Paragraphs(w, lines, s)
}

// UnfinalizeNames writes the names of the objects that are not refused.
func UnfinalizeNames(w io.Writer, p *unfinalize.Planned) error {
	return writeNames(w, slices.Values(p.Allowed().Candidates()), func(c *unfinalize.Candidate) graph.Ref { return c.Ref })
}

// UnfinalizeNothing says that nothing was found.
func UnfinalizeNothing(p *unfinalize.Planned) string {
	if len(p.Gaps) > 0 {
		return "No resources found that have the finalizer in the types that could be listed"
	}
	return "No resources found that have the finalizer"
}

// unfinalizeSummary counts what would be done.
func unfinalizeSummary(p *unfinalize.Planned) string {
	finalizers, objects, refused, again, unsure := 0, 0, 0, 0, 0
	asked, unasked := p.Overrides, p.Overrides
	asked.Asked, unasked.Asked = true, false
	for _, c := range p.Candidates() {
		if c.Refused(asked) {
			refused++
			continue
		}
		if c.Refused(unasked) {
			unsure++
		}
		objects++
		for _, v := range c.Assessments {
			if v.Method == unfinalize.ByDelete {
				again++
			} else {
				finalizers++
			}
		}
	}
	var parts []string
	if finalizers > 0 {
		parts = append(parts, fmt.Sprintf("removes %s from %s", phrase.Count(finalizers, "finalizer"),
			phrase.Count(objects-again, "object")))
	}
	if again > 0 {
		parts = append(parts, fmt.Sprintf("deletes %s again", phrase.Count(again, "object")))
	}
	if unsure > 0 {
		parts = append(parts, fmt.Sprintf("%s %s confirmation", phrase.Count(unsure, "object"),
			phrase.Plural(unsure, "needs", "need")))
	}
	if refused > 0 {
		parts = append(parts, "refuses "+phrase.Count(refused, "object"))
	}
	return strings.Join(parts, "; ")
}

// methodWords say in the table how a finalizer is removed.
var methodWords = map[unfinalize.Method]string{
	unfinalize.ByPatch: "remove", unfinalize.ByOrphaning: "orphan, then remove", unfinalize.ByPolicy: "remove by policy",
	unfinalize.ByFinalizing: "finalize", unfinalize.ByDelete: "delete again",
}

// refusalWords say in the table why one does not.
var refusalWords = map[unfinalize.Code]string{
	unfinalize.NotThere: "not there", unfinalize.NothingHeld: "nothing to do", unfinalize.NotDeleting: "not deleting",
	unfinalize.ActorAlive:    "alive",
	unfinalize.ActorNotFound: "actor not found", unfinalize.ActorUnknown: "actor unknown",
	unfinalize.ActorOutside: "actor outside",
	unfinalize.InUse:        "in use", unfinalize.UseUnknown: "use unknown",
	unfinalize.DataLoss: "data loss", unfinalize.BreaksCluster: "breaks cluster", unfinalize.NotEmpty: "not empty",
	unfinalize.NotProvenEmpty:   "not proven empty",
	unfinalize.HiddenDependents: "hidden dependents", unfinalize.Forbidden: "forbidden",
	unfinalize.ServerRefuses: "server",
}

// assessmentWords are an assessment in a few words, the same whether somebody is asked or not, and
// whether an answer is not enough.
func assessmentWords(v unfinalize.Assessment, t unfinalize.Overrides) (words string, refused bool) {
	t.Asked = false
	against := v.Against(t)
	if len(against) == 0 {
		return methodWords[v.Method], false
	}
	var codes []string
	for _, r := range against {
		if word := refusalWords[r.Code]; !slices.Contains(codes, word) {
			codes = append(codes, word)
		}
	}
	return "refused: " + strings.Join(codes, ", "), v.Needs(t) != unfinalize.Confirmation
}

// verdict is a row of the table of assessments: what is to be done in a few words, whether that is
// refused, and what it takes nevertheless.
type verdict struct {
	unfinalize.Row
	number      int // from 1
	says, needs string
	refused     bool
}

func verdicts(p *unfinalize.Planned) []verdict {
	var all []verdict
	for i, r := range p.Rows() {
		v := verdict{Row: r, number: i + 1, needs: r.Assessment.Needs(p.Overrides)}
		v.says, v.refused = assessmentWords(r.Assessment, p.Overrides)
		all = append(all, v)
	}
	return all
}

// verdictTable writes the verdicts, with numbers if they are to be chosen from. NEEDS is left out
// where nothing is needed.
func verdictTable(w io.Writer, all []verdict, numbers bool, s Style) error {
	needed := slices.ContainsFunc(all, func(v verdict) bool { return v.needs != "" })
	return writeRows(w, s, []column[verdict]{
		{header: "#", cell: func(v verdict) string { return strconv.Itoa(v.number) }, unused: !numbers},
		{header: "NAMESPACE", cell: func(v verdict) string { return orDash(Escape(v.Candidate.Ref.Namespace)) }, shorten: 1},
		{header: "NAME", cell: func(v verdict) string { return KindName(v.Candidate.Ref) }, shorten: 1},
		{header: "FINALIZER", cell: func(v verdict) string { return orDash(Escape(v.Assessment.Name)) }, shorten: 1},
		{header: "ALIVE", cell: func(v verdict) string { return orDash(strings.ToLower(string(v.Assessment.Actor.Life))) },
			drop: 1},
		{header: "VERDICT", cell: func(v verdict) string { return v.says }, shorten: 3,
			least: func(v verdict) int { return width(v.says) }, // it says why
			color: func(v verdict) *color.Color {
				if v.refused {
					return s.bad
				}
				return nil
			}},
		{header: "NEEDS", cell: func(v verdict) string { return orDash(v.needs) }, unused: !needed},
		{header: "REMOVED-BY", cell: func(v verdict) string { return orDash(Escape(v.Assessment.Actor.Who)) }, wide: true},
		{header: "UID", cell: func(v verdict) string { return Escape(v.Candidate.Ref.UID) }, wide: true},
	}, all)
}

// lifeSentence says who removes a finalizer and whether that is alive.
func lifeSentence(a actor.Actor) string {
	who := a.Who
	if who == "" {
		who = "the controller that removes it is not known"
	} else {
		who += map[actor.Life]string{
			actor.Alive: " removes it, and is running", actor.Dead: " removes it, and is not running",
		}[a.Life]
		if a.Life != actor.Alive && a.Life != actor.Dead {
			who += " removes it; whether it is running is not known"
		}
	}
	if len(a.Says()) > 0 {
		who += " (" + strings.Join(a.Says(), "; ") + ")"
	}
	return who
}

// removalSentence says what happens if the finalizer is removed this way.
func removalSentence(v unfinalize.Assessment) string {
	switch {
	case v.Method == unfinalize.ByOrphaning:
		return "its purpose is fulfilled: the dependents are orphaned before it is removed"
	case v.Method == unfinalize.ByPolicy, v.Method == unfinalize.ByPatch && v.Note != "":
		return "its deletion continues in the background: it does not wait for its dependents, which are deleted after it"
	case v.Method == unfinalize.ByFinalizing && len(v.Refusals) == 0:
		return "nothing is left in the namespace, so it can be deleted"
	}
	return unfinalize.Skipped(v.Actor)
}

// explanations say what is known of the finalizers, and what speaks against removing them: the same
// thing of several objects once.
func explanations(p *unfinalize.Planned) []string {
	var lines []string
	told := map[string]bool{}
	for _, r := range p.Rows() {
		about := strings.Join(explainFinalizer(r.Candidate, r.Assessment, p.Overrides), "\n")
		if about == "" || told[about] {
			continue
		}
		told[about] = true
		lines = append(lines, strings.Split(about, "\n")...)
	}
	return lines
}

// explainFinalizer says what is known of one finalizer, in lines of which all but the first are
// indented.
func explainFinalizer(c *unfinalize.Candidate, v unfinalize.Assessment, overrides unfinalize.Overrides) []string {
	var lines []string
	add := func(text string) {
		if text != "" {
			lines = append(lines, "  "+text)
		}
	}
	if v.Name != "" && v.Field != "" {
		lines = append(lines, v.Name+": "+lifeSentence(v.Actor))
		add(removalSentence(v))
		if k := v.Actor.Known; v.Actor.IsKnown && v.Actor.Life != actor.Alive {
			add("if it runs again: " + k.OnCompletion())
		}
		if k := v.Actor.Known; v.Actor.IsKnown && v.Method == unfinalize.ByPatch && v.Note == "" && !saysBefore(v) {
			add(k.Before)
		}
	}
	add(v.Note)
	if n := len(c.Dependents); v.Method == unfinalize.ByOrphaning && n > 0 {
		add(fmt.Sprintf("the references to it are removed from %s first", phrase.Count(n, "dependent")))
	}
	against := v.Against(overrides)
	for _, r := range v.Refusals {
		word := "refused"
		switch {
		case r.Asks() && !overrides.Force:
			word = "needs confirmation"
		case slices.Contains(against, r):
		default:
			word = "despite this (" + string(r.Override) + ")"
		}
		line := word + ": " + r.Because
		switch r.Code { // what stands above is not said again
		case unfinalize.DataLoss, unfinalize.BreaksCluster:
			line, _, _ = strings.Cut(line, ": "+v.Actor.Known.OnRemoval())
		case unfinalize.ActorAlive:
			line = word + ": it is running and is expected to remove it"
			if _, because, ignores := strings.Cut(r.Because, " is running, and does not remove it: "); ignores {
				line = word + ": it is running, and does not remove it: " + because
			}
		case unfinalize.ActorNotFound, unfinalize.ActorUnknown, unfinalize.ActorOutside:
			line = strings.TrimSuffix(line, "; "+removalSentence(v))
		}
		if v.Field == "" {
			line = word + ": " + KindName(c.Ref) + ": " + r.Because // nothing above says which
		}
		if r.Hint != "" && word == "refused" {
			line += "; " + strings.TrimSuffix(r.Hint, ".")
		}
		add(line)
	}
	for i := range lines {
		lines[i] = Escape(lines[i])
	}
	return lines
}

// saysBefore reports whether a refusal has the advice of the pack already.
func saysBefore(v unfinalize.Assessment) bool {
	return slices.ContainsFunc(v.Refusals, func(r unfinalize.Refusal) bool { return r.Hint == v.Actor.Known.Before })
}

// outsideLines name what the objects stand for outside the cluster: without the object nobody finds
// it again.
func outsideLines(p *unfinalize.Planned) []string {
	var lines []string
	for _, c := range p.Candidates() {
		if outside := c.Outside(); len(outside) > 0 {
			lines = append(lines, Escape(KindName(c.Ref)+" stands for something outside: "+strings.Join(outside, "; ")))
		}
	}
	return firstLines(lines)
}

// firstLines are the first few of some lines, with how many there are besides.
func firstLines(lines []string) []string {
	if n := len(lines) - phrase.MaxNamed; n > 0 {
		return append(slices.Clone(lines[:phrase.MaxNamed]), fmt.Sprintf("and %d more objects; -o json has them all", n))
	}
	return lines
}

// leftOutside writes what stayed outside the cluster when finalizers were removed.
func leftOutside(w io.Writer, outcomes []*unfinalize.Outcome) error {
	var lines []string
	for _, o := range outcomes {
		for _, d := range o.Done {
			if len(d.Outside) > 0 {
				lines = append(lines, Escape("outside the cluster, nobody has cleaned up after "+KindName(d.Object)+": "+
					strings.Join(d.Outside, "; ")))
			}
		}
	}
	return Paragraphs(w, firstLines(lines), Style{})
}

// strandedLines name what is left in namespaces, which is lost with those that are finalized all
// the same.
func strandedLines(p *unfinalize.Planned) []string {
	var lines []string
	for _, c := range p.Candidates() {
		e := c.Stranded()
		if e == nil || e.Proven() {
			continue
		}
		head := "left in namespace %s:"
		if !c.Refused(p.Overrides) {
			head = "stranded in namespace %s, out of reach until a namespace of that name is made again:"
		}
		lines = append(lines, fmt.Sprintf(head, Escape(c.Ref.Name)))
		for _, r := range e.Remaining {
			lines = append(lines, "  "+TypeName(r))
		}
		for _, g := range e.Gaps {
			lines = append(lines, fmt.Sprintf("  possibly %s, which could not be listed: %s", Escape(g.TypeName()),
				Escape(phrase.Shorten(g.Message))))
		}
	}
	return lines
}

// afterLines say what the garbage collector deletes when the objects are gone. Of many objects the
// first few have a line of their own.
func afterLines(p *unfinalize.Planned) []string {
	var lines []string
	for _, c := range p.Candidates() {
		if line := afterLine(c); line != "" {
			lines = append(lines, Escape(line))
		}
	}
	return firstLines(lines)
}

func afterLine(c *unfinalize.Candidate) string {
	after := c.After()
	if after == nil {
		return ""
	}
	var parts []string
	if len(after.Deleted) > 0 {
		when := "when " + KindName(c.Ref) + " is gone"
		if !c.Releases() {
			when += ", which its other finalizers still prevent"
		}
		what := phrase.Count(len(after.Deleted), "object") + ": " + phrase.And(kindNames(after.Deleted...))
		if len(after.Stopped) > 0 {
			parts = append(parts, fmt.Sprintf("the garbage collector does not run (%s): %s, nobody deletes %s; kubectl gc run does",
				strings.Join(after.Stopped, "; "), when, what))
		} else {
			parts = append(parts, fmt.Sprintf("%s, the garbage collector deletes %s", when, what))
		}
	}
	switch {
	case after.Unlisted:
		parts = append(
			parts, fmt.Sprintf("it is unknown what is deleted when %s is gone: it was not among the objects listed",
				KindName(c.Ref)))
	case len(after.Gaps) > 0:
		parts = append(parts, fmt.Sprintf("it is unknown what else is deleted when %s is gone: %s could not be listed",
			KindName(c.Ref), phrase.And(v1alpha1.TypeNames(after.Gaps))))
	}
	return strings.Join(parts, "; ")
}

// diskLines say which disks are destroyed.
func diskLines(p *unfinalize.Planned) []string {
	disks := allDisks(p)
	if len(disks) == 0 {
		return nil
	}
	return []string{Escape("it " + status.Destroys(disks))}
}

// allDisks are the volumes whose data are destroyed.
func allDisks(p *unfinalize.Planned) []v1alpha1.Disk {
	var disks []v1alpha1.Disk
	for _, c := range p.Candidates() {
		if c.After() != nil {
			disks = append(disks, c.After().Disks...)
		}
	}
	return disks
}
