package imports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// widest is how many columns a comment may take, with tabs of four. Code is longer: golangci-lint
// looks at that.
const widest = 100

// TestCommentsWrapAt100Columns, which gofmt does not look at. A word that is longer, such as an
// address, stands on a line of its own.
func TestCommentsWrapAt100Columns(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".go" {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if !strings.HasPrefix(strings.TrimLeft(line, "\t"), "// ") {
				continue
			}
			before := line[:strings.LastIndex(line, " ")]
			if utf8.RuneCountInString(strings.ReplaceAll(before, "\t", "    ")) > widest {
				t.Errorf("%s:%d: the comment is longer than %d columns", file, i+1, widest)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
