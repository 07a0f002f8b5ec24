package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/olekukonko/tablewriter/pkg/twwarp"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// trouble is one cause with all that it holds: objects that differ in nothing but their names come to one.
type trouble struct {
	v1alpha1.Cause
	objects  []v1alpha1.ObjectRef // in which the cause lies
	commands [][]string           // of each of them
	holds    []v1alpha1.Stuck
	via      []v1alpha1.ObjectRef
}

// listed is how many objects of a cause are named.
const listed = 3

// Diagnosis writes what is stuck by its causes: each once, with what it lies in, what it holds, what was seen, and what to do. A wide one names all
// objects.
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
	if len(d.Gaps) > 0 {
		fmt.Fprintf(out, "incomplete: %s could not be listed; what is stuck there, or holds something else up, is not shown\n", shorten(unlisted(d.Gaps), s.Wide))
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
	s := objectsAre(deleting) + " being deleted and still there"
	if causes > 0 {
		s += ", for " + count(causes, "cause")
	}
	return s
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

// troubles groups the causes of all objects.
func troubles(d *v1alpha1.Diagnosis) []*trouble {
	var all []*trouble
	byKey, object := map[string]*trouble{}, map[string]bool{}
	for _, stuck := range d.Stuck {
		for _, c := range stuck.Causes {
			key := strings.Join([]string{c.Code, c.Finalizer, c.Actor, c.Remedy, c.Object.Resource}, "\x00")
			if c.Finalizer == "" { // of objects that wait for the same actor, what was seen at one will do
				key += strings.Join(c.Evidence, "\x00")
			}
			t := byKey[key]
			if t == nil {
				t = &trouble{Cause: c, via: c.Via}
				byKey[key] = t
				all = append(all, t)
			}
			if id := key + "\x00" + qualified(c.Object); !object[id] {
				object[id] = true
				t.objects, t.commands = append(t.objects, c.Object), append(t.commands, c.Commands)
			}
			if !slices.ContainsFunc(t.holds, func(h v1alpha1.Stuck) bool { return h.Object == stuck.Object }) {
				t.holds = append(t.holds, stuck)
			}
		}
	}
	return all
}

func (t *trouble) write(w io.Writer, now time.Time, s Style) {
	fmt.Fprintln(w, paint(s.bad, Escape(t.Code)))
	field(w, s, "in", shorten(t.in(now), s.Wide))
	if t.Finalizer != "" {
		of := Escape(t.Finalizer)
		if t.Actor != "" {
			of += " of " + Escape(t.Actor)
		}
		field(w, s, "finalizer", of)
	}
	if holds := t.held(now); len(holds) > 0 {
		field(w, s, "holds", shorten(holds, s.Wide))
	}
	if len(t.via) > 0 {
		field(w, s, "through", namesOf(t.via, true))
	}
	for i, e := range t.Evidence {
		label := ""
		if i == 0 {
			label = "because"
		}
		field(w, s, label, Escape(e))
	}
	field(w, s, "remedy", Escape(t.Remedy))
	for i, commands := range t.commands {
		if i == listed && !s.Wide {
			field(w, s, "", t.more())
			break
		}
		for _, c := range commands {
			fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", indent+2), paint(s.kind, Escape(c))) // not wrapped: it is there to be copied
		}
	}
	fmt.Fprintln(w)
}

// more says what to do about those whose commands are not written.
func (t *trouble) more() string {
	more := len(t.commands) - listed
	if t.Finalizer == "" || !slices.ContainsFunc(t.Commands, func(c string) bool { return strings.HasPrefix(c, "kubectl gc unfinalize ") }) {
		return fmt.Sprintf("and the same for %d more; -o wide writes all", more)
	}
	where := "-A"
	if ns := t.objects[0].Namespace; ns != "" && !slices.ContainsFunc(t.objects, func(o v1alpha1.ObjectRef) bool { return o.Namespace != ns }) {
		where = "-n " + ns
	}
	return Escape(fmt.Sprintf("and the same for %d more; all at once: kubectl gc unfinalize --all-stuck %s --finalizer %s", more, where, t.Finalizer))
}

// in names what the cause lies in, with how long it has been deleted if it is stuck itself.
func (t *trouble) in(now time.Time) []string {
	var all []string
	for _, o := range t.objects {
		name := qualified(o)
		if i := slices.IndexFunc(t.holds, func(h v1alpha1.Stuck) bool { return h.Object == o }); i >= 0 {
			name = aged(t.holds[i], now)
		}
		all = append(all, name)
	}
	return all
}

// held names what else is held by it.
func (t *trouble) held(now time.Time) []string {
	var all []string
	for _, h := range t.holds {
		if !slices.Contains(t.objects, h.Object) {
			all = append(all, aged(h, now))
		}
	}
	return all
}

// aged names an object with the time since it was deleted.
func aged(s v1alpha1.Stuck, now time.Time) string {
	if s.Since == nil {
		return qualified(s.Object)
	}
	return qualified(s.Object) + " (" + duration.HumanDuration(max(0, now.Sub(s.Since.Time))) + ")"
}

// indent is where the text of a field begins.
const indent = 12

// field writes a label and a text, which is wrapped if it is written to a terminal.
func field(w io.Writer, s Style, label, text string) {
	lines := []string{text}
	if s.Width > indent+leastWidth {
		lines, _ = twwarp.WrapString(text, s.Width-indent)
	}
	for _, line := range lines {
		fmt.Fprintf(w, "  %s%s%s\n", paint(s.dim, label), strings.Repeat(" ", indent-2-len(label)), line)
		label = ""
	}
}

func unexplained(w io.Writer, stuck v1alpha1.Stuck, now time.Time, s Style) {
	fmt.Fprintln(w, paint(s.bad, "no cause found"))
	field(w, s, "for", aged(stuck, now))
	for i, c := range stuck.Checked {
		label := ""
		if i == 0 {
			label = "checked"
		}
		field(w, s, label, Escape(c))
	}
	fmt.Fprintln(w)
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
	if more := len(all) - listed; more > 0 && !wide {
		return strings.Join(all[:listed], ", ") + fmt.Sprintf(" and %d more", more)
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
