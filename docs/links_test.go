package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

var (
	linked  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	named   = regexp.MustCompile(`<a (?:id|name)="([^"]+)">`)
	notSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
)

// TestLinksLeadSomewhere fails when a page links to a file that there is not, or to a heading that
// the file does not have.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range linked.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(match[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", page, match[1], err)
			} else if anchor != "" && !anchors(t, target)[anchor] {
				t.Errorf("%s links to %s, and there is no such heading", page, match[1])
			}
		}
	}
}

// anchors are those that GitHub gives the headings of a page, and those that the page names itself.
func anchors(t *testing.T, page string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
		all[strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-")] = true
	}
	for _, match := range named.FindAllStringSubmatch(string(text), -1) {
		all[match[1]] = true
	}
	return all
}

var (
	block   = regexp.MustCompile("(?ms)^```shell\n(.*?)^```$")
	example = regexp.MustCompile(`(?m)^kubectl gc ([^#\n]*)`)
)

// TestExamplesParse fails when a page's example has a command or a flag that there is not.
func TestExamplesParse(t *testing.T) {
	parsed := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range block.FindAllStringSubmatch(string(text), -1) {
			for _, line := range example.FindAllStringSubmatch(block[1], -1) {
				typed, _, _ := strings.Cut(line[1], " >")
				command, args, err := cmd.NewRoot(
					genericiooptions.NewTestIOStreamsDiscard()).Find(strings.Fields(strings.ReplaceAll(typed, "'", "")))
				if err == nil {
					err = command.ParseFlags(args)
				}
				if err != nil || !command.HasParent() {
					t.Errorf("%s: kubectl gc %s: %v", page, typed, err)
				}
				parsed++
			}
		}
	}
	if parsed < 20 {
		t.Errorf("%d examples were found", parsed)
	}
}
