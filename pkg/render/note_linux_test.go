package render

import (
	"bufio"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/terminal"
)

// TestWarningsAreWrappedOnATerminal between words, and nowhere else.
func TestWarningsAreWrappedOnATerminal(t *testing.T) {
	t.Parallel()
	gaps := []v1alpha1.Gap{{Resource: "secrets", Reason: v1alpha1.GapForbidden, Namespace: "shop"}}
	const want = `Warning: cannot list secrets: you may not list in namespace "shop"`
	var piped strings.Builder
	if WarnGaps(&piped, gaps); piped.String() != want+"\n" {
		t.Errorf("%q, want %q", piped.String(), want)
	}
	person, screen, err := terminal.Open(40)
	if err != nil {
		t.Fatal(err)
	}
	defer person.Close()
	WarnGaps(screen, gaps)
	lines := bufio.NewScanner(person)
	for _, want := range []string{"Warning: cannot list secrets: you may", `  not list in namespace "shop"`} {
		if lines.Scan(); strings.TrimRight(lines.Text(), "\r") != want {
			t.Errorf("%q, want %q: %v", lines.Text(), want, lines.Err())
		}
	}
	screen.Close()
}

// TestMessagesAreWrappedOnATerminal: a command at the end has a line of its own, one that begins a
// sentence has not.
func TestMessagesAreWrappedOnATerminal(t *testing.T) {
	t.Parallel()
	person, screen, err := terminal.Open(40)
	if err != nil {
		t.Fatal(err)
	}
	defer person.Close()
	Message(screen, "hint: ", "kubectl gc why says what is known of it; you are asked")
	Message(screen, "", "error: it is kept\nto go on, run first: kubectl patch pv data --type=merge -p x")
	lines := bufio.NewScanner(person)
	for _, want := range []string{"hint: kubectl gc why says what is known", "  of it; you are asked", "error: it is kept",
		"to go on, run first:", "kubectl patch pv data --type=merge -p x"} {
		if lines.Scan(); strings.TrimRight(lines.Text(), "\r") != want {
			t.Errorf("%q, want %q: %v", lines.Text(), want, lines.Err())
		}
	}
	screen.Close()
}

// TestNotesAreDrawnInCharactersOfTheLocale, as tables are.
func TestNotesAreDrawnInCharactersOfTheLocale(t *testing.T) {
	for locale, want := range map[string]string{"C": "is cut~\n", "en_US.UTF-8": "is cut…\n"} {
		t.Setenv("LC_ALL", locale)
		var out strings.Builder
		if note(&out, "is %s…", "cut"); out.String() != want {
			t.Errorf("in locale %s %q, want %q", locale, out.String(), want)
		}
	}
}
