package core

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// TestEveryCodeIsAKind: a code without an entry in the table would be printed without a meaning,
// and be missing from the documentation.
func TestEveryCodeIsAKind(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "causes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	for _, decl := range file.Decls {
		constants, ok := decl.(*ast.GenDecl)
		if !ok || constants.Tok != token.CONST {
			continue
		}
		for _, s := range constants.Specs {
			spec := s.(*ast.ValueSpec)
			if of, ok := spec.Type.(*ast.Ident); !ok || of.Name != "Code" {
				continue
			}
			codes++
			if byCode[Code(spec.Names[0].Name)].Meaning == "" {
				t.Errorf("%s has no entry in Kinds", spec.Names[0].Name)
			}
		}
	}
	if codes == 0 || codes != len(Kinds) {
		t.Errorf("%d codes and %d kinds", codes, len(Kinds))
	}
}
