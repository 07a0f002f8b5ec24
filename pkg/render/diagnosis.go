package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Diagnosis writes what is stuck by its causes, each once: what is stuck and for how long, the
// cause in a sentence, what was seen, what removing the finalizer costs, and numbered commands, the
// safest first. A wide one names all objects.
func Diagnosis(w io.Writer, d *v1alpha1.Diagnosis, now time.Time, s Style) error {
	out := bufio.NewWriter(w)
	for _, stuck := range d.Stuck {
		if len(stuck.Causes) == 0 {
			unexplained(out, stuck, now, s)
		}
	}
	for _, t := range troubles(d) {
		t.write(out, now, s)
	}
	fmt.Fprintln(out, diagnosisSummary(d))
	if d.NotLookedAt > 0 {
		for _, line := range wrap(phrase.Count(d.NotLookedAt, "object")+
			" not examined: there are too many, or a webhook does not respond; the evidence is that of similar objects",
			s.columns()) {
			fmt.Fprintln(out, line)
		}
	}
	if len(d.Gaps) > 0 {
		for _, line := range wrap("incomplete: "+shorten(unlisted(d.Gaps), s.Wide)+
			" could not be listed; objects of these types that are stuck, or that block others, are not shown", s.columns()) {
			fmt.Fprintln(out, line)
		}
	}
	return out.Flush()
}

func diagnosisSummary(d *v1alpha1.Diagnosis) string {
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
	case len(d.Stuck) == 0 && len(d.Gaps) > 0:
		return "nothing is stuck in the types that could be listed"
	case len(d.Stuck) == 0:
		return "nothing is stuck"
	case hidden > 0 && deleting == 0:
		return "whether " + objectsAre(hidden) + " being deleted could not be determined"
	case deleting == 0:
		return objectsAre(len(d.Stuck)) + " not being deleted"
	}
	if !slices.ContainsFunc(d.Stuck, isStuck) {
		return objectsAre(deleting) + " being deleted; nothing is stuck"
	}
	return stuckSummary(d, deleting)
}

// stuckSummary counts the objects that are stuck, the causes of that, and the objects whose
// deletion makes progress.
func stuckSummary(d *v1alpha1.Diagnosis, deleting int) string {
	stuck, causes := 0, 0
	for _, s := range d.Stuck {
		if isStuck(s) {
			stuck++
		}
	}
	for _, t := range troubles(d) {
		if diagnose.IsStuck(t.Cause) {
			causes++
		}
	}
	s := objectsAre(stuck) + " stuck in deletion"
	if causes > 0 {
		s += ", for " + phrase.Count(causes, "cause")
	}
	if n := deleting - stuck; n > 0 {
		s += "; " + phrase.Count(n, "other deletion") + " in progress"
	}
	return s
}

// isStuck says whether an object is being deleted, and its deletion makes no progress.
func isStuck(s v1alpha1.Stuck) bool {
	return s.Since != nil && (len(s.Causes) == 0 || slices.ContainsFunc(s.Causes, diagnose.IsStuck))
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

func objectsAre(n int) string {
	if n == 1 {
		return "1 object is"
	}
	return fmt.Sprintf("%d objects are", n)
}

// qualified names an object with its namespace.
func qualified(r v1alpha1.ObjectRef) string {
	name := Escape(strings.ToLower(r.Kind)) + "/" + Escape(r.Name)
	if r.Namespace != "" {
		name += " in " + Escape(r.Namespace)
	}
	return name
}

func namesOf(refs []v1alpha1.ObjectRef, wide bool) string {
	all := make([]string, len(refs))
	for i, r := range refs {
		all[i] = qualified(r)
	}
	return shorten(all, wide)
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
	out := bufio.NewWriter(w)
	for _, s := range d.Stuck {
		fmt.Fprintln(out, TypeName(graph.Ref(s.Object)))
	}
	return out.Flush()
}
