package krew

import (
	"os"
	"strings"
	"testing"
)

const changelog = "# Changelog\n\nWords.\n\n## Unreleased\n\n- next\n\n## v1.2.3 (2026-01-02)\n\n- one\n\n### Fixed\n\n- two\n\n## v1.2.30 (2025-01-02)\n\n- old\n\n## v1.0.0 (2024-01-02)\n"

// TestNotesAreTheSectionOfTheRelease, with its own headings, and of no other.
func TestNotesAreTheSectionOfTheRelease(t *testing.T) {
	got, err := Notes(changelog, "v1.2.3")
	if want := "- one\n\n### Fixed\n\n- two\n"; err != nil || got != want {
		t.Errorf("%v\n%q, want\n%q", err, got, want)
	}
	for _, tag := range []string{"v1.2", "v2.0.0", "v1.0.0"} {
		if got, err := Notes(changelog, tag); err == nil || !strings.Contains(err.Error(), tag) {
			t.Errorf("%s: %v, %q", tag, err, got)
		}
	}
}

// TestTheChangelogSaysWhatIsNew since the last release, or is just released.
func TestTheChangelogSaysWhatIsNew(t *testing.T) {
	text, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sections, found := strings.Cut(string(text), "\n## ")
	tag, _, _ := strings.Cut(sections, "\n")
	tag, _, _ = strings.Cut(tag, " ")
	if !found || tag != "Unreleased" && !strings.HasPrefix(tag, "v") {
		t.Fatalf("the first section of CHANGELOG.md is %q", tag)
	}
	if _, err := Notes(string(text), tag); err != nil {
		t.Error(err)
	}
}
