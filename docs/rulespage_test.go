package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// rulesPage states the rules that comments and tests cite, each under an anchor.
const rulesPage = "gc-semantics.md"

var anchor = regexp.MustCompile(`<a id="([a-z]+-?[0-9]+)"></a>([A-Z]+-?[0-9]+)`)

// rules is the page: what stands under each key, and the keys in their order.
type rules struct {
	text  string
	rules map[string]string
	order []string
}

func readRules(t *testing.T) rules {
	t.Helper()
	text, err := os.ReadFile(rulesPage)
	if err != nil {
		t.Fatal(err)
	}
	page := rules{text: string(text), rules: map[string]string{}}
	at := anchor.FindAllStringSubmatchIndex(page.text, -1)
	for i, m := range at {
		id, key := page.text[m[2]:m[3]], page.text[m[4]:m[5]]
		if id != strings.ToLower(key) {
			t.Errorf("%s stands under the anchor %s", key, id)
		}
		if page.rules[key] != "" {
			t.Errorf("docs/%s has the anchor %s twice", rulesPage, id)
		}
		end := len(page.text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		page.rules[key] = page.text[m[5]:end]
		page.order = append(page.order, key)
	}
	if len(page.order) != strings.Count(page.text, "<a id=") {
		t.Errorf("docs/%s has anchors that are not keys", rulesPage)
	}
	return page
}

// between returns the keys of the page from one to another. Without an end that is the first alone.
func (r rules) between(first, last string) []string {
	var keys []string
	for _, key := range r.order {
		if key == first || len(keys) > 0 {
			keys = append(keys, key)
		}
		if key == last || len(keys) > 0 && last == "" {
			break
		}
	}
	return keys
}
