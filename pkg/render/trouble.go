package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// trouble is one cause with all objects in which it lies, and all that wait for those.
type trouble struct {
	v1alpha1.Cause
	// finalizers are all that it is about; none if it is about none.
	finalizers []string
	places     []place
	holds      []v1alpha1.Stuck
	via        []v1alpha1.ObjectRef
}

// place is an object in which a cause lies, with what was seen and the remedy there.
type place struct {
	object   v1alpha1.ObjectRef
	evidence []string
	steps    []v1alpha1.Step
}

// troubles groups the causes of all objects. Those of one group have one remedy; what was seen may
// differ between objects that wait for one actor.
func troubles(d *v1alpha1.Diagnosis) []*trouble {
	var all []*trouble
	byKey, placed, holds := map[string]*trouble{}, map[string]bool{}, map[string]bool{}
	for _, stuck := range d.Stuck {
		for _, c := range stuck.Causes {
			key := groupKey(c)
			t := byKey[key]
			if t == nil {
				t = &trouble{Cause: c, via: c.Via}
				t.Steps = stepsOf(c)
				byKey[key] = t
				all = append(all, t)
			}
			t.After = min(t.After, c.After)
			if id := key + "\x00" + qualified(c.Object); !placed[id] {
				placed[id] = true
				t.places = append(t.places, place{c.Object, c.Evidence, stepsOf(c)})
			}
			if id := key + "\x00" + stuck.Object.Resource + "\x00" + qualified(stuck.Object); !holds[id] {
				holds[id] = true
				t.holds = append(t.holds, stuck)
			}
		}
	}
	return together(all)
}

// together joins causes that differ in nothing but the finalizer, as those of a controller in no
// pack that has set several: they are told once, with the commands of all.
func together(all []*trouble) []*trouble {
	var told []*trouble
	byKey := map[string]*trouble{}
	for _, t := range all {
		if t.Finalizer != "" {
			t.finalizers = []string{t.Finalizer}
			if first := byKey[t.apart()]; first != nil {
				first.add(t)
				continue
			}
			byKey[t.apart()] = t
		}
		told = append(told, t)
	}
	return told
}

// apart is the same for causes that are told in the same words about the same objects, but for the
// finalizer.
func (t *trouble) apart() string {
	c := t.Cause
	c.Finalizer = ""
	words := []string{groupKey(c), t.upcoming()}
	for _, p := range t.places {
		words = append(append(words, qualified(p.object)), p.evidence...)
	}
	for _, h := range t.holds {
		words = append(words, h.Object.Resource, qualified(h.Object))
	}
	return strings.Join(words, "\x00")
}

// add adds a cause that is told together with it.
func (t *trouble) add(other *trouble) {
	t.finalizers = append(t.finalizers, other.Finalizer)
	t.Steps = phrase.Union(t.Steps, other.Steps)
	for i := range t.places {
		t.places[i].steps = phrase.Union(t.places[i].steps, other.places[i].steps)
	}
}

// groupKey is the same for causes that are told once. Objects that wait for one actor may differ in
// what was seen, which is then told of each.
func groupKey(c v1alpha1.Cause) string {
	group, _, _ := strings.Cut(c.Object.APIVersion, "/")
	words := []string{c.Code, c.Finalizer, c.Actor, c.Summary, c.Remedy, c.Cost, group, c.Object.Resource}
	if c.Finalizer == "" {
		words = append(words, c.Evidence...)
	}
	return strings.Join(words, "\x00")
}

// stepsOf are the steps of a cause, which of an older version are commands alone.
func stepsOf(c v1alpha1.Cause) []v1alpha1.Step {
	if len(c.Steps) > 0 {
		return c.Steps
	}
	steps := make([]v1alpha1.Step, len(c.Commands))
	for i, command := range c.Commands {
		steps[i].Command = command
	}
	return steps
}

// shared is the evidence that was seen at every place.
func (t *trouble) shared() []string {
	return slices.DeleteFunc(slices.Clone(t.Evidence), func(e string) bool {
		return slices.ContainsFunc(t.places, func(p place) bool { return !slices.Contains(p.evidence, e) })
	})
}

// own are the places by what was seen at them alone, in their order.
func (t *trouble) own() []ownEvidence {
	shared := t.shared()
	var all []ownEvidence
	for own, names := range groups(t.places, func(p place) (string, string) {
		own := slices.DeleteFunc(slices.Clone(p.evidence), func(e string) bool { return slices.Contains(shared, e) })
		return strings.Join(own, "\x00"), qualified(p.object)
	}) {
		if own != "" {
			all = append(all, ownEvidence{names, strings.Split(own, "\x00")})
		}
	}
	return all
}

// ownEvidence is what was seen at some places of a cause, and not at the others.
type ownEvidence struct{ names, evidence []string }

// roles are the objects of a cause: those in which it lies that are stuck themselves, those in which
// it lies that are not being deleted, and what waits for them. Where none of the first is there, what
// waits is what is stuck.
func (t *trouble) roles() (stuck []v1alpha1.Stuck, in []v1alpha1.ObjectRef, waiting []v1alpha1.Stuck) {
	since, places := map[string]v1alpha1.Stuck{}, map[string]bool{}
	for _, h := range t.holds {
		since[refKey(h.Object)] = h
	}
	for _, p := range t.places {
		key := refKey(p.object)
		places[key] = true
		if h, ok := since[key]; ok {
			stuck = append(stuck, h)
		} else {
			in = append(in, p.object)
		}
	}
	for _, h := range t.holds {
		if !places[refKey(h.Object)] {
			waiting = append(waiting, h)
		}
	}
	if len(stuck) == 0 {
		return waiting, in, nil
	}
	return stuck, in, waiting
}

// headline says in a sentence what is stuck, for what it waits and why, with the code behind.
func (t *trouble) headline() string {
	holds, in, _ := t.roles()
	deleting := slices.ContainsFunc(holds, func(s v1alpha1.Stuck) bool { return s.Since != nil })
	is, waits := " is ", " waits for "
	if len(holds) > 1 {
		is, waits = " are ", " wait for "
	}
	line, reason := t.upcoming()+firstOf(holds[0].Object, len(holds)), t.reason()
	switch {
	case t.lives():
		line += is + "not being deleted"
		if more := t.Evidence[min(1, len(t.Evidence)):]; len(more) > 0 { // the first says so, too
			line += ": " + Escape(strings.Join(more, "; "))
		}
		reason = ""
	case deleting && !core.IsStuck(t.Cause):
		line += is + "being deleted"
	case deleting && len(in) > 0:
		line += waits + firstOf(in[0], len(in))
	case deleting:
		line += is + "stuck"
	}
	return line + reason + t.code()
}

// lives reports whether it is none: its objects were asked about, and are not being deleted.
func (t *trouble) lives() bool { return t.Code == string(core.NotDeleting) }

// reason is the sentence that says what the cause is, or what was seen if there is none.
func (t *trouble) reason() string {
	reason := cmp.Or(append([]string{t.Summary}, t.Evidence...)...)
	if reason == "" {
		return ""
	}
	return ": " + Escape(reason)
}

// code is that of the cause, behind its sentence.
func (t *trouble) code() string { return " (" + Escape(t.Code) + ")" }

// firstOf names the first of n objects, and counts the others.
func firstOf(first v1alpha1.ObjectRef, n int) string {
	return qualified(first) + phrase.More(" and %d more", n-1)
}

func refKey(r v1alpha1.ObjectRef) string {
	return strings.Join([]string{r.APIVersion, r.Resource, r.Namespace, r.Name, r.UID}, "\x00")
}

// aged names an object with the time since it was deleted.
func aged(s v1alpha1.Stuck, now time.Time) string {
	if s.Since == nil {
		return qualified(s.Object)
	}
	return qualified(s.Object) + " (" + duration.HumanDuration(max(0, now.Sub(s.Since.Time))) + ")"
}

// allAged names objects with the time since each was deleted.
func allAged(all []v1alpha1.Stuck, now time.Time, wide bool) string {
	return shorten(phrase.Words(all, func(s v1alpha1.Stuck) string { return aged(s, now) }), wide)
}

// remedy writes what to do: in words, and as numbered commands, the safest first.
func (t *trouble) remedy(w io.Writer, s Style) {
	field(w, s, "remedy", Escape(t.Remedy))
	for i := range t.Steps {
		t.step(w, s, i)
	}
}

// step writes the command of one number, for the first few of the places that it differs for.
func (t *trouble) step(w io.Writer, s Style, i int) {
	commands := t.commands(i)
	number := fmt.Sprintf("%d. ", i+1)
	for n, command := range commands {
		if n == named && !s.Wide {
			field(w, s, "", strings.Repeat(" ", len(number))+t.more(commands))
			break
		}
		// not wrapped: it is there to be copied
		fmt.Fprintf(w, "%s%s%s\n", strings.Repeat(" ", indent), number, paint(s.kind, Escape(command)))
		number = strings.Repeat(" ", len(number))
	}
	if does := Doing(t.Steps[i]); does != "" {
		hanging(w, s, indent+len(number), does, s.dim)
	}
}

// commands are those of one number, each once.
func (t *trouble) commands(i int) []string {
	var commands []string
	seen := map[string]bool{}
	for _, p := range t.places {
		if i < len(p.steps) && !seen[p.steps[i].Command] {
			seen[p.steps[i].Command] = true
			commands = append(commands, p.steps[i].Command)
		}
	}
	return commands
}

// Doing says what a step brings about, and what it puts at risk.
func Doing(step v1alpha1.Step) string {
	does := Escape(step.Does)
	risk := map[string]string{"data-loss": "data is lost", "breaks-cluster": "the cluster can break",
		"leaks-external": "something leaks"}[step.Risk]
	switch {
	case risk == "":
		return does
	case does == "":
		return "risk: " + risk
	}
	return does + " (risk: " + risk + ")"
}

// more says what to do about those whose commands are not written. One command does so for all of
// a type in a namespace, and assesses each again: what has to be forced, because of what was found
// at these, is not forced on others, and no other type or namespace is reached.
func (t *trouble) more(commands []string) string {
	more := len(commands) - named
	of := t.places[0].object
	elsewhere := func(p place) bool { return p.object.Namespace != of.Namespace }
	if len(t.finalizers) != 1 || !strings.HasPrefix(commands[0], "kubectl gc unfinalize ") ||
		strings.HasSuffix(commands[0], " --force") || slices.ContainsFunc(t.places, elsewhere) {
		return fmt.Sprintf("and the same for %d more; -o wide writes all", more)
	}
	words := []string{"kubectl", "gc", "unfinalize", of.QualifiedResource(), "--all-stuck"}
	if of.Namespace == "" {
		words = append(words, "-A") // which is the cluster of a cluster-scoped type
	} else {
		words = append(words, "-n", of.Namespace)
	}
	words = append(words, "--finalizer", t.Finalizer)
	return fmt.Sprintf("and the same for %d more; all at once: %s", more, Escape(phrase.Command(words...)))
}
