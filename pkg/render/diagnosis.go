package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// Diagnosis writes what is stuck by its causes, each once: what is stuck and for how long, the cause in a sentence, what was seen, what removing the
// finalizer costs, and numbered commands, the safest first. A wide one names all objects.
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
		for _, line := range wrap(count(d.NotLookedAt, "object")+" not looked at: there are too many, or a webhook does not answer; what is said of them was seen at others like them", s.columns()) {
			fmt.Fprintln(out, line)
		}
	}
	if len(d.Gaps) > 0 {
		for _, line := range wrap("incomplete: "+shorten(unlisted(d.Gaps), s.Wide)+" could not be listed; what is stuck there, or holds something else up, is not shown", s.columns()) {
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
	causes := len(troubles(d))
	switch {
	case len(d.Stuck) == 0 && len(d.Gaps) > 0:
		return "nothing is stuck among what could be listed"
	case len(d.Stuck) == 0:
		return "nothing is stuck"
	case hidden > 0 && deleting == 0:
		return "whether " + objectsAre(hidden) + " being deleted could not be seen"
	case deleting == 0:
		return objectsAre(len(d.Stuck)) + " not being deleted"
	}
	if !slices.ContainsFunc(d.Stuck, held) {
		return objectsAre(deleting) + " being deleted; nothing is stuck"
	}
	s := objectsAre(deleting) + " being deleted and still there"
	if causes > 0 {
		s += ", for " + count(causes, "cause")
	}
	return s
}

// held says whether an object is stuck: being deleted, and not just in progress.
func held(s v1alpha1.Stuck) bool {
	goesOn := func(c v1alpha1.Cause) bool { return c.Code == "InProgress" || c.Code == "PodTerminating" }
	return s.Since != nil && (len(s.Causes) == 0 || slices.ContainsFunc(s.Causes, func(c v1alpha1.Cause) bool { return !goesOn(c) }))
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
	if more := len(all) - named; more > 0 && !wide {
		return strings.Join(all[:named], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(all, ", ")
}

// DiagnosisNames writes the stuck objects, a line each, as kubectl's -o name does.
func DiagnosisNames(w io.Writer, d *v1alpha1.Diagnosis) error {
	out := bufio.NewWriter(w)
	for _, s := range d.Stuck {
		kind := strings.ToLower(s.Object.Kind)
		if group, _, grouped := strings.Cut(s.Object.APIVersion, "/"); grouped {
			kind += "." + group
		}
		fmt.Fprintf(out, "%s/%s\n", Escape(kind), Escape(s.Object.Name))
	}
	return out.Flush()
}
