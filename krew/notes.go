package krew

import (
	"fmt"
	"strings"
)

// Notes returns the section of a tag in the text of CHANGELOG.md, without its heading: what the
// page of the release says. A release without a section of its own, or with an empty one, is an
// error.
func Notes(changelog, tag string) (string, error) {
	var b strings.Builder
	found := false
	for line := range strings.Lines(changelog) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			if found {
				break
			}
			word, _, _ := strings.Cut(strings.TrimSpace(heading), " ")
			found = word == tag
			continue
		}
		if found {
			b.WriteString(line)
		}
	}
	notes := strings.TrimSpace(b.String())
	if notes == "" {
		return "", fmt.Errorf("CHANGELOG.md says nothing of %s: rename the section \"Unreleased\" to \"## %s (DATE)\"",
			tag, tag)
	}
	return notes + "\n", nil
}
