package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

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
