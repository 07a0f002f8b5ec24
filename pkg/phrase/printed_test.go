package phrase_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A string with a command in it has no place for a word that is not known when it is compiled, and
// neither ends in one nor in a flag that takes a value.
var (
	filledIn = regexp.MustCompile(`kubectl [^;:(]*%[svq]($|[^ ]| [^(])`) // and not "kubectl gc v1.0.0 (go1.26)"
	goesOn   = regexp.MustCompile(`(kubectl [^;:]*|--[a-z-]+)[ /]$`)
)

// TestEveryPrintedCommandIsWrittenByCommand reads the source: no command line is put together from
// strings, so that Command quotes each word of all of them.
func TestEveryPrintedCommandIsWrittenByCommand(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	read := 0
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		read++
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if filledIn.MatchString(text(n)) {
					t.Errorf("%s: write the command with phrase.Command, not in %s", files.Position(n.Pos()), n.Value)
				}
			case *ast.BinaryExpr:
				left := n.X
				if sum, ok := left.(*ast.BinaryExpr); ok {
					left = sum.Y
				}
				if n.Op == token.ADD && goesOn.MatchString(text(left)) && text(n.Y) == "" && !quotes(n.Y) {
					t.Errorf("%s: write the command with phrase.Command, not behind %q", files.Position(n.Pos()), text(left))
				}
			}
			return true
		})
		return nil
	})
	if err != nil || read < 100 {
		t.Fatalf("%d files: %v", read, err)
	}
}

// text is what a literal says; empty for another expression.
func text(e ast.Expr) string {
	l, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	s, _ := strconv.Unquote(l.Value) // of a number it is an error, and of no interest
	return s
}

// quotes reports whether an expression is a call of phrase.Command or phrase.ShellWord.
func quotes(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && (f.Sel.Name == "Command" || f.Sel.Name == "ShellWord")
}
