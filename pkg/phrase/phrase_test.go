package phrase_test

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

func TestListsNameTheFirstAndCountTheRest(t *testing.T) {
	t.Parallel()
	names := func(n int) []string { return strings.Split("a,b,c,d,e,f,g", ",")[:n] }
	for _, tt := range []struct{ name, got, want string }{
		{"none", phrase.FirstFew(nil, 3), ""},
		{"as many as fit", phrase.FirstFew(names(3), 3), "a, b, c"},
		{"one more", phrase.FirstFew(names(4), 3), "a, b, c and 1 more"},
		{"sorted, each once", phrase.SortedFew([]string{"b", "a", "b"}), "a, b"},
		{"four fit", phrase.SortedFew(names(4)), "a, b, c, d"},
		{"of five, three", phrase.SortedFew(names(5)), "a, b, c and 2 more"},
		{"one with and", phrase.And(names(1)), "a"},
		{"two with and", phrase.And(names(2)), "a and b"},
		{"five with or", phrase.Or(names(5)), "a, b, c, d or e"},
		{"seven with or", phrase.Or(names(7)), "a, b, c, d, e and 2 more"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestALongMessageIsShortened(t *testing.T) {
	t.Parallel()
	if got := phrase.Shorten(strings.Repeat("ä", 301)); got != strings.Repeat("ä", 300)+"…" {
		t.Errorf("301 characters become %d", len([]rune(got)))
	}
	if got := phrase.Shorten("short"); got != "short" {
		t.Errorf("short becomes %q", got)
	}
}

func TestShellWordsAreOneWordToAShell(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"deployments.apps/web": "deployments.apps/web",
		"":                     "''",
		"a b":                  "'a b'",
		"it's":                 `'it'\''s'`,
		"$(reboot)":            "'$(reboot)'",
		"=ls":                  "'=ls'",
	} {
		if got := phrase.ShellWord(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}

func TestASentenceBeginsWithACapitalLetterUnlessAPathBeginsIt(t *testing.T) {
	t.Parallel()
	for clause, want := range map[string]string{
		"":                              "",
		"it waits.":                     "It waits.",
		"status.message of it says: no": "status.message of it says: no.",
		"gone.":                         "Gone.",
	} {
		if got := phrase.Sentence(clause); got != want {
			t.Errorf("%q: %q, want %q", clause, got, want)
		}
	}
}
