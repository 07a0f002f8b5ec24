package docs_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-gc/kubectl-gc/docs"
)

// TestTranscripts fails when a page does not show a transcript as the script expects it that runs
// the command, or shows one that no script expects.
func TestTranscripts(t *testing.T) {
	transcripts, err := docs.Transcripts(os.DirFS("../test/e2e/testdata/docs"))
	if err != nil || len(transcripts) == 0 {
		t.Fatalf("%d transcripts, %v", len(transcripts), err)
	}
	unused := maps.Clone(transcripts)
	for _, path := range pages(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := docs.WithTranscripts(string(text), transcripts)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if string(text) != want {
			t.Errorf("%s is out of date; run make docs\n%s", path, firstDifference(string(text), want))
		}
		names, rest := docs.Shown(string(text))
		for _, name := range names {
			delete(unused, name)
		}
		if line := typed.FindString(rest); line != "" {
			t.Errorf("%s shows a transcript that is not from a script: %s", path, line)
		}
	}
	for name, text := range unused {
		if docs.IsPicture(text) { // TestPictures looks for it
			continue
		}
		t.Errorf("no page shows the transcript %s", name)
	}
}

// TestTheREADMEIsShort: a newcomer reads it to "More", the links.
func TestTheREADMEIsShort(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const most = 900
	before, _, found := strings.Cut(string(text), "\n## More\n")
	if words := len(strings.Fields(before)); !found || words > most {
		t.Errorf("the README has %d words before More, and should have at most %d", words, most)
	}
}

// typed is a command as a transcript shows it.
var typed = regexp.MustCompile(`(?m)^\$ .*`)

// pages are the README and the pages of docs.
func pages(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("*.md")
	if err != nil || len(all) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	return append(all, "../README.md")
}

// TestTranscriptsReplaceWhatAPageShows: the block behind a comment is made, and made anew; text
// around it stays.
func TestTranscriptsReplaceWhatAPageShows(t *testing.T) {
	transcripts, err := docs.Transcripts(
		fstest.MapFS{"page.txtar": {Data: []byte("exec true\n-- input.yaml --\na: b\n-- one --\n$ kubectl gc tree\nnew\n")}})
	if err != nil || len(transcripts) != 1 {
		t.Fatalf("%v, %v", transcripts, err)
	}
	const want = "Before.\n\n<!-- transcript: page/one -->\n```console\n$ kubectl gc tree\nnew\n```\n\nAfter.\n"
	for name, page := range map[string]string{
		"no block":        "Before.\n\n<!-- transcript: page/one -->\n\nAfter.\n",
		"another block":   "Before.\n\n<!-- transcript: page/one -->\n```console\n$ kubectl gc tree\nold\n```\n\nAfter.\n",
		"the right block": want,
	} {
		if got, err := docs.WithTranscripts(page, transcripts); err != nil || got != want {
			t.Errorf("%s: %v\n%s", name, err, firstDifference(got, want))
		}
	}
	if _, err := docs.WithTranscripts("<!-- transcript: page/two -->\n", transcripts); err == nil ||
		!strings.Contains(err.Error(), "page/two") {
		t.Errorf("a transcript of no script: %v", err)
	}
}
