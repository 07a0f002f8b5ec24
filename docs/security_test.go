package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	testNamed   = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	testDefined = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// TestPagesNameTestsThatThereAre fails when the threat model, or another page that promises
// something, names a test that was renamed or removed.
func TestPagesNameTestsThatThereAre(t *testing.T) {
	defined := map[string]bool{}
	eachFile(t, func(file, text string) {
		if strings.HasSuffix(file, "_test.go") {
			for _, m := range testDefined.FindAllStringSubmatch(text, -1) {
				defined[m[1]] = true
			}
		}
	})
	named := 0
	for _, page := range pages(t) {
		if page == rulesPage { // which names Kubernetes' own
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testNamed.FindAllStringSubmatch(string(text), -1) {
			named++
			if !defined[m[1]] {
				t.Errorf("%s names %s, which no file defines", page, m[1])
			}
		}
	}
	if named == 0 {
		t.Error("no page names a test")
	}
}
