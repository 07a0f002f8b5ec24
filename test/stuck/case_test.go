package stuck

import (
	"strings"
	"testing"
	"testing/fstest"
)

const header = `# Title: A pod is stuck
# Source: https://example.com/1
# Symptom: It says
#   Terminating.
# Answer: The node is gone.
# Harmful: Removing it: two of them run.
# First run: partly: it did not say why

exec true
# Title: this is none
`

func TestParseReadsAHeader(t *testing.T) {
	t.Parallel()
	want := Case{
		Title: "A pod is stuck", Source: "https://example.com/1", Symptom: "It says Terminating.",
		Answer: "The node is gone.", Harmful: "Removing it: two of them run.",
		Verdict: Partly, Because: "it did not say why",
	}
	if got, err := Parse(header); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestParseRefusesAHeaderThatIsNotWhole(t *testing.T) {
	t.Parallel()
	for _, change := range []struct{ old, replacement, want string }{
		{"# Title: A pod is stuck\n", "", "it has the keys"},
		{"# Title: A pod is stuck\n", "# About a pod\n", "the first line must begin"},
		{"# Answer: The node is gone.\n", "", "it has the keys"},
		{"# Answer: The node is gone.\n", "# Answer: The node is gone.\n# Answer: It is back.\n", "it has the keys"},
		{"The node is gone.", " ", "Answer is empty"},
		{"partly: ", "maybe: ", "must be right, partly or wrong"},
		{"https://", "seen on ", "no https address"},
	} {
		if _, err := Parse(strings.Replace(header, change.old, change.replacement, 1)); err == nil ||
			!strings.Contains(err.Error(), change.want) {
			t.Errorf("with %q instead of %q: %v, want %q", change.replacement, change.old, err, change.want)
		}
	}
}

func TestCasesRefusesAThreadThatIsUsedTwice(t *testing.T) {
	t.Parallel()
	file := &fstest.MapFile{Data: []byte(header)}
	if _, err := Cases(fstest.MapFS{"a.txtar": file, "alone/b.txtar": file, "types": file}); err == nil ||
		!strings.Contains(err.Error(), "alone/b.txtar has the source of a.txtar") {
		t.Errorf("%v, want both named", err)
	}
}
