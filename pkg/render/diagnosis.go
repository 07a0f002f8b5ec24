package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Diagnosis writes what is stuck by its causes, each once, and several after an overview: what is
// stuck and for how long, the cause in a sentence, what was seen, what removing the finalizer costs,
// and numbered commands, the safest first. A wide one names all objects.
func Diagnosis(w io.Writer, d *v1alpha1.Diagnosis, now time.Time, s Style) error {
	out := bufio.NewWriter(w)
	all := troubles(d)
	live := slices.DeleteFunc(slices.Clone(all), func(t *trouble) bool { return !t.lives() })
	all = slices.DeleteFunc(all, (*trouble).lives)
	overview(out, all, s)
	for _, stuck := range d.Stuck {
		if isUnexplained(stuck) {
			unexplained(out, stuck, now, s)
		}
	}
	for _, t := range slices.Concat(all, live) {
		t.write(out, now, s)
	}
	if len(live) == 0 || slices.ContainsFunc(d.Stuck, func(s v1alpha1.Stuck) bool { return s.Since != nil }) {
		fmt.Fprintln(out, DiagnosisSummary(d, now))
	}
	if d.NotLookedAt > 0 {
		hanging(out, s, 0, phrase.Count(d.NotLookedAt, "object")+
			" not examined: there are too many, or a webhook does not respond; the evidence is that of similar objects", nil)
	}
	if types := slices.DeleteFunc(slices.Clone(d.Gaps), v1alpha1.Gap.IsQuestion); len(types) > 0 {
		hanging(out, s, 0, "incomplete: "+shorten(unlisted(types), s.Wide)+" could not be listed"+inNamespaces(types)+
			"; objects of these types that are stuck, or that block others, are not shown", nil)
	}
	for _, g := range d.Gaps {
		if g.IsQuestion() {
			hanging(out, s, 0, "incomplete: "+Escape(g.Message), nil)
		}
	}
	return out.Flush()
}

// DiagnosisSummary counts what is stuck, and what was too young to be examined.
func DiagnosisSummary(d *v1alpha1.Diagnosis, now time.Time) string {
	summary := stuckSummary(d, now)
	if d.Younger == 0 {
		return summary
	}
	younger := objectsAre(d.Younger) + " being deleted for less than --older-than, and not examined"
	if len(d.Stuck)+len(d.Gaps) == 0 {
		return younger
	}
	return summary + "; " + younger
}

func stuckSummary(d *v1alpha1.Diagnosis, now time.Time) string {
	deleting, hidden := 0, 0
	for _, s := range d.Stuck {
		switch {
		case s.Since != nil:
			deleting++
		case s.Object.UID == "":
			hidden++
		}
	}
	switch {
	case len(d.Stuck) == 0 && slices.ContainsFunc(d.Gaps, func(g v1alpha1.Gap) bool { return g.Namespace != "" }):
		return "nothing is stuck in the types and namespaces that could be listed"
	case len(d.Stuck) == 0 && len(d.Gaps) > 0:
		return "nothing is stuck in the types that could be listed"
	case len(d.Stuck) == 0:
		return "nothing is stuck"
	case hidden > 0 && deleting == 0:
		return "whether " + objectsAre(hidden) + " being deleted could not be determined"
	case len(d.Stuck) == 1 && deleting == 0:
		return qualified(d.Stuck[0].Object) + " is not being deleted"
	case deleting == 0:
		return objectsAre(len(d.Stuck)) + " not being deleted"
	}
	if slices.ContainsFunc(d.Stuck, isStuck) {
		return countStuck(d, deleting)
	}
	if n := countCauses(d); n > 0 {
		return goesOn(d, deleting, now) + "; then " + phrase.Count(n, "cause") + " to come"
	}
	return goesOn(d, deleting, now)
}

// goesOn says of deletions, none of which is stuck, whether that can be told.
func goesOn(d *v1alpha1.Diagnosis, deleting int, now time.Time) string {
	young := count(d.Stuck, func(s v1alpha1.Stuck) bool { return isYoung(s, now) })
	switch {
	case young == deleting:
		return objectsAre(deleting) + " being deleted, for less than a minute: whether anything is stuck cannot be told yet"
	case young > 0:
		return fmt.Sprintf("%s being deleted, %d for less than a minute: whether anything is stuck cannot be told yet",
			objectsAre(deleting), young)
	}
	return objectsAre(deleting) + " being deleted; nothing is stuck"
}

// countStuck counts the objects that are stuck, the causes of that, and the objects whose deletion
// makes progress.
func countStuck(d *v1alpha1.Diagnosis, deleting int) string {
	stuck := count(d.Stuck, isStuck)
	s := objectsAre(stuck) + " stuck in deletion"
	if n := countCauses(d); n > 0 {
		s += ", for " + phrase.Count(n, "cause")
	}
	if n := deleting - stuck; n > 0 {
		s += "; " + phrase.Count(n, "other deletion") + " in progress"
	}
	return s
}

// countCauses counts the causes that stop deletions, now or later, each once.
func countCauses(d *v1alpha1.Diagnosis) int {
	return count(troubles(d), func(t *trouble) bool { return core.IsStuck(t.Cause) })
}

// count counts what is so.
func count[T any](all []T, is func(T) bool) int {
	n := 0
	for _, one := range all {
		if is(one) {
			n++
		}
	}
	return n
}

// isStuck reports whether an object is being deleted, and its deletion makes no progress. What
// comes up only after another cause has not stopped it yet.
func isStuck(s v1alpha1.Stuck) bool {
	return s.Since != nil && (len(s.Causes) == 0 || slices.ContainsFunc(s.Causes, func(c v1alpha1.Cause) bool {
		return core.IsStuck(c) && c.After == s.Causes[0].After
	}))
}

// isYoung reports whether an object has been being deleted for less than a minute. The timestamp of
// a pod in its grace period is when that ends.
func isYoung(s v1alpha1.Stuck, now time.Time) bool {
	return s.Since != nil && !s.Since.After(now) && now.Sub(s.Since.Time) < time.Minute
}

// isUnexplained reports whether nothing was found of why an object is there, which is or may be
// being deleted.
func isUnexplained(s v1alpha1.Stuck) bool {
	return len(s.Causes) == 0 && (s.Since != nil || s.Object.UID == "")
}

// unlisted names the types in gaps, each once and in their order.
func unlisted(gaps []v1alpha1.Gap) []string {
	var all []string
	for _, g := range gaps {
		name := Escape(g.Resource)
		switch {
		case g.Resource == "*" && g.Group == "":
			name = "the core group"
		case g.Resource == "*":
			name = "group " + Escape(g.Group)
		case g.Group != "":
			name += "." + Escape(g.Group)
		}
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// inNamespaces says in which namespaces the types in gaps could not be listed; empty if one of them
// could be in none.
func inNamespaces(gaps []v1alpha1.Gap) string {
	var all []string
	for _, g := range gaps {
		if g.Namespace == "" {
			return ""
		}
		if name := Escape(g.Namespace); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	switch len(all) {
	case 0:
		return ""
	case 1:
		return " in namespace " + all[0]
	}
	return " in some namespaces (" + few(all) + ")"
}

func objectsAre(n int) string { return phrase.Count(n, "object") + phrase.Plural(n, " is", " are") }

// qualified names an object with its namespace.
func qualified(r v1alpha1.ObjectRef) string {
	name := Escape(strings.ToLower(r.Kind)) + "/" + Escape(r.Name)
	if r.Namespace != "" {
		name += " in " + Escape(r.Namespace)
	}
	return name
}

func namesOf(refs []v1alpha1.ObjectRef, wide bool) string {
	return shorten(phrase.Words(refs, qualified), wide)
}

// shorten joins some words, the first of many unless all are wanted.
func shorten(all []string, wide bool) string {
	if wide {
		return strings.Join(all, ", ")
	}
	return phrase.FirstFew(all, named)
}

// DiagnosisNames writes the stuck objects, a line each, as kubectl's -o name does.
func DiagnosisNames(w io.Writer, d *v1alpha1.Diagnosis) error {
	return writeNames(w, slices.Values(d.Stuck), func(s v1alpha1.Stuck) graph.Ref { return s.Object })
}

// overview writes several causes in a line each, those first whose last command harms most.
func overview(w io.Writer, all []*trouble, s Style) {
	if len(all) < 2 {
		return
	}
	fmt.Fprintf(w, "%s, the most harmful to remove by hand first:\n", phrase.Count(len(all), "cause"))
	for _, t := range byHarm(all) {
		columns := s.columns()
		if columns > 0 {
			columns -= len(inset)
		}
		fmt.Fprintln(w, s.drawn(inset+t.line(columns)))
	}
	fmt.Fprintln(w)
}

// inset is before each line of the overview.
const inset = "  "

// byHarm are causes, those first whose last command harms most.
func byHarm(all []*trouble) []*trouble {
	return slices.SortedStableFunc(slices.Values(all), func(a, b *trouble) int { return cmp.Compare(b.harm(), a.harm()) })
}

// line is where the cause lies and what it is, in so many columns; 0 is for no bound.
func (t *trouble) line(columns int) string {
	line, code := t.upcoming()+firstOf(t.places[0].object, len(t.places))+t.reason(), t.code()
	if columns > 0 && width(line+code) > columns {
		line = brief(line, max(columns-width(code), leastWidth))
	}
	return line + code
}

// harm ranks what the last command puts at risk.
func (t *trouble) harm() int {
	if len(t.Steps) == 0 {
		return 0
	}
	risks := []string{"none", "", "leaks-external", "breaks-cluster", "data-loss"}
	return slices.Index(risks, t.Steps[len(t.Steps)-1].Risk)
}
