package diagnose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// TestEveryCodeIsProducedByATest: a code that no test of why expects may be one that it never
// gives. A test expects a code that it names, in Go or in a line of a script; comments do not
// count.
func TestEveryCodeIsProducedByATest(t *testing.T) {
	t.Parallel()
	expected := map[string]bool{}
	for _, root := range []string{".", "../../test/e2e", "../../test/stuck"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case strings.HasSuffix(path, "_test.go") && path != "produced_test.go":
				return goWords(path, expected)
			case strings.HasSuffix(path, ".txtar"):
				return scriptWords(path, expected)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range core.Kinds {
		if !expected[string(k.Code)] {
			t.Errorf("no test produces %s", k.Code)
		}
	}
}

var word = regexp.MustCompile(`[A-Za-z]+`)

// goWords adds the identifiers of a Go file and the words of its strings.
func goWords(path string, words map[string]bool) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			words[n.Name] = true
		case *ast.BasicLit:
			addWords(n.Value, words)
		}
		return true
	})
	return nil
}

// scriptWords adds the words of a script's lines that are no comments.
func scriptWords(path string, words map[string]bool) error {
	script, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(script)) {
		if !strings.HasPrefix(line, "#") {
			addWords(line, words)
		}
	}
	return nil
}

func addWords(text string, words map[string]bool) {
	for _, w := range word.FindAllString(text, -1) {
		words[w] = true
	}
}
