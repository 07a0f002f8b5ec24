package finalizer_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// noteOfEntry is how code reaches the note of an entry. That of a component is Alive.Note, and says
// where it runs.
var noteOfEntry = regexp.MustCompile(`\b([Kk]nown|k)\.Note\b`)

// TestNotesOfEntriesAreForExplainAlone: a note is general knowledge. Printed for an object it would
// pass for something that was seen there.
func TestNotesOfEntriesAreForExplainAlone(t *testing.T) {
	allowed := map[string]bool{"../explain/entry.go": true}
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(path, "../finalizer/") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if noteOfEntry.Match(text) != allowed[path] {
			t.Errorf("%s: the note of an entry is for explain alone", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
