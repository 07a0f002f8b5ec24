package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// A rule has a dash in its key, and a test of Kubernetes has none. Behind "to" stands the end
	// of a range.
	ruleKey = regexp.MustCompile(
		`(?:^|[^A-Za-z0-9-])((?:GC|API|NS|RO|P|T|X)-[0-9]{2,}[a-z]?)\b(?: to ((?:GC|API|NS|RO|P|T|X)-[0-9]{2,}))?`)
	testKey = regexp.MustCompile(`\b([UIEA][0-9]{2})\b(?: to ([UIEA][0-9]{2})\b)?`)

	// Names of tests and scripts end in keys without a dash: TestSomething_GC064_P06.
	name    = regexp.MustCompile(`\b\w+_(?:GC|API|NS|RO|P|T|X|U|I|E|A)[0-9]{2,3}\w*`)
	nameKey = regexp.MustCompile(`^(GC|API|NS|RO|P|T|X|U|I|E|A)([0-9]{2,3})$`)
)

// citation is a key that a file cites, or the first of several up to an end.
type citation struct{ file, key, end string }

func citations(t *testing.T) []citation {
	t.Helper()
	var found []citation
	eachFile(t, func(file, text string) {
		for _, keys := range []*regexp.Regexp{ruleKey, testKey} {
			for _, m := range keys.FindAllStringSubmatch(text, -1) {
				found = append(found, citation{file, m[1], m[2]})
			}
		}
		for _, word := range append(name.FindAllString(text, -1),
			strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))) {
			for part := range strings.SplitSeq(word, "_") {
				if m := nameKey.FindStringSubmatch(part); m != nil {
					found = append(found, citation{file, dashed(m[1], m[2]), ""})
				}
			}
		}
	})
	return found
}

// dashed is a key as the page has it.
func dashed(family, number string) string {
	switch family {
	case "U", "I", "E", "A":
		return family + number
	}
	return family + "-" + number
}

// eachFile calls do with every file of the repository that may cite rules, but the page itself.
func eachFile(t *testing.T, do func(file, text string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch base := d.Name(); {
		case d.IsDir() && (base == "bin" || base == "dist" || strings.HasPrefix(base, ".") && base != ".."):
			return filepath.SkipDir
		case d.IsDir() || path == filepath.Join("..", "docs", rulesPage):
			return nil
		case base != "Makefile" && filepath.Ext(base) != ".go" && filepath.Ext(base) != ".txtar" &&
			filepath.Ext(base) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		do(path[len("../"):], string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
