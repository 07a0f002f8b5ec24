package docs_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link      = regexp.MustCompile(`\]\(#([a-z]+-[0-9]+)\)`)
	keyFirst  = regexp.MustCompile(`^(?:Test)?(?:GC|API|NS|RO|P|T|X|U|I|E|A)-?[0-9]{2,3}`)
	testNames = regexp.MustCompile(`(?m)^func (Test\w+)|\bt\.Run\("([\w-]+)`)
)

// TestEveryCitationIsARule fails when a comment, a test or a page cites a rule that the page of
// rules does not state.
func TestEveryCitationIsARule(t *testing.T) {
	page := readRules(t)
	for _, c := range citations(t) {
		for _, key := range []string{c.key, c.end} {
			if key != "" && page.rules[key] == "" {
				t.Errorf("%s cites %s, which docs/%s does not state", c.file, key, rulesPage)
			}
		}
	}
	for _, to := range link.FindAllStringSubmatch(page.text, -1) {
		if page.rules[strings.ToUpper(to[1])] == "" {
			t.Errorf("docs/%s links to #%s, which it does not have", rulesPage, to[1])
		}
	}
}

// TestEveryRuleIsCited fails when nothing relies on a rule: it has to say that it is background, or
// go.
func TestEveryRuleIsCited(t *testing.T) {
	page := readRules(t)
	cited := map[string]bool{}
	for _, c := range citations(t) {
		for _, key := range page.between(c.key, c.end) {
			cited[key] = true
		}
	}
	for _, key := range page.order {
		background := strings.Contains(page.rules[key], "*Background")
		if !cited[key] && !background {
			t.Errorf("nothing cites %s", key)
		}
		if cited[key] && background {
			t.Errorf("%s says that it is background, and is cited", key)
		}
	}
}

// TestNamesLeadWithWords fails when the name of a test or a script begins with a key instead of
// ending in it.
func TestNamesLeadWithWords(t *testing.T) {
	eachFile(t, func(file, text string) {
		names := []string{filepath.Base(file)}
		for _, test := range testNames.FindAllStringSubmatch(text, -1) {
			names = append(names, test[1]+test[2])
		}
		for _, name := range names {
			if keyFirst.MatchString(name) {
				t.Errorf("%s: the name %s begins with a key", file, name)
			}
		}
	})
}
