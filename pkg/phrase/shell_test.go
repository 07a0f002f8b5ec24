package phrase_test

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// FuzzWords: the words of a command line are those that it was written of.
func FuzzWords(f *testing.F) {
	for _, words := range [][3]string{{"kubectl", "get", "pods"}, {"a b", "", "'"}, {`'\''`, "$(reboot)", "=ls"},
		{"'a'", `\`, "x;y\n"}, {" ", "''", `{"a":"it's"}`}} {
		f.Add(words[0], words[1], words[2])
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		want := []string{a, b, c}
		if got := phrase.Split(phrase.Command(want...)); !slices.Equal(got, want) {
			t.Errorf("the words of %q are %q, want %q", phrase.Command(want...), got, want)
		}
	})
}

// TestWordsLeaveToAShellWhatIsForOne: a line that Command did not write has none.
func TestWordsLeaveToAShellWhatIsForOne(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "kubectl get pods | sh", "kubectl get pods > f", "kubectl get pods; reboot", "kubectl get $X",
		"kubectl  get", "kubectl get ", "kubectl 'get'", `kubectl "get"`, "kubectl 'a", "kubectl 'a'b", "kubectl `x`", "kubectl 'a;'b"} {
		if words := phrase.Split(line); words != nil {
			t.Errorf("%q has the words %q", line, words)
		}
	}
}
