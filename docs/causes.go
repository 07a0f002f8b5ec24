package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
)

// citation is a rule or a file of upstream that a comment cites.
var citation = regexp.MustCompile(` \([A-Z]+-\d+[^)]*\)`)

// Causes returns the page of the codes of kubectl gc why, out of the source in which they stand with what they mean.
func Causes(source []byte) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", source, parser.ParseComments)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Causes\n\nThe codes that `kubectl gc why` gives, in `stuck[].causes[].code` of its JSON. They do not change between versions. Made by `make docs`.\n\n| code | meaning |\n|---|---|\n")
	for _, decl := range file.Decls {
		constants, ok := decl.(*ast.GenDecl)
		if !ok || constants.Tok != token.CONST {
			continue
		}
		for _, s := range constants.Specs {
			spec := s.(*ast.ValueSpec)
			name := spec.Names[0].Name
			meaning := strings.TrimPrefix(strings.Join(strings.Fields(spec.Doc.Text()), " "), name+": ")
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.TrimSuffix(citation.ReplaceAllString(meaning, ""), "."))
		}
	}
	return b.String(), nil
}
