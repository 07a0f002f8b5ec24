package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommandsListThroughALibrary holds that no command builds a graph. Without a graph.Builder it
// cannot list a cluster either, so that pkg/selection, which keeps the gaps, is the only way.
func TestCommandsListThroughALibrary(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir(filepath.Join("..", "..", "pkg", "cmd"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		for _, position := range uses(t, path, "graph", "NewBuilder") {
			t.Errorf("%s calls graph.NewBuilder; list through pkg/selection", position)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Error("pkg/cmd has no files")
	}
	if len(uses(t, filepath.Join("..", "..", "pkg", "selection", "query.go"), "graph", "NewBuilder")) == 0 {
		t.Error("what this test looks for is not found where it is")
	}
}

// uses returns where a file uses a name of a package.
func uses(t *testing.T, path, pkg, name string) []token.Position {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []token.Position
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == name {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg {
				found = append(found, set.Position(s.Pos()))
			}
		}
		return true
	})
	return found
}
