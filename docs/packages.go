package docs

import (
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Package is a Go package of the module.
type Package struct {
	// Dir is its folder, from the top of the module.
	Dir string
	// Name is the name in its package clause.
	Name string
	// Doc are the package comments of its files, which should be one.
	Doc []string
}

// Packages finds the packages of a module, those that are only tests too, in the order of their
// folders.
func Packages(module fs.FS) ([]Package, error) {
	var all []Package
	err := fs.WalkDir(module, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." &&
			(strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || isModule(module, file)):
			return fs.SkipDir
		case path.Ext(file) != ".go":
			return nil
		}
		text, err := fs.ReadFile(module, file)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		dir := path.Dir(file)
		i := slices.IndexFunc(all, func(p Package) bool { return p.Dir == dir })
		if i < 0 {
			i = len(all)
			all = append(all, Package{Dir: dir})
		}
		if name := parsed.Name.Name; !strings.HasSuffix(name, "_test") {
			all[i].Name = name
		}
		if parsed.Doc != nil {
			all[i].Doc = append(all[i].Doc, parsed.Doc.Text())
		}
		return nil
	})
	slices.SortFunc(all, func(a, b Package) int { return strings.Compare(a.Dir, b.Dir) })
	return all, err
}

// isModule reports whether a folder is a module of its own.
func isModule(fsys fs.FS, dir string) bool {
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil
}

// Synopsis returns the first sentence of the package comment without its beginning, "Package name",
// and its full stop. It is empty if the package has no comment, or one that does not begin so.
func (p Package) Synopsis() string {
	if len(p.Doc) == 0 {
		return ""
	}
	begin := "Package " + p.Name + " "
	if p.Name == "main" {
		begin = "Command " + path.Base(p.Dir) + " "
	}
	sentence, ok := strings.CutPrefix(new(doc.Package).Synopsis(p.Doc[0]), begin)
	sentence, stops := strings.CutSuffix(sentence, ".")
	if !ok || !stops {
		return ""
	}
	return sentence
}

// mapped is the place of the map of packages on a page.
var mapped = regexp.MustCompile(`(?s)(<!-- packages -->\n).*?(<!-- end of packages -->\n)`)

// WithPackages returns a page with the map of packages between the comments that mark its place.
func WithPackages(page string, packages []Package) string {
	var b strings.Builder
	b.WriteString("| package | |\n|---|---|\n")
	for _, p := range packages {
		fmt.Fprintf(&b, "| `%s` | %s |\n", p.Dir, strings.ReplaceAll(p.Synopsis(), "|", `\|`))
	}
	return mapped.ReplaceAllStringFunc(page, func(place string) string {
		marks := mapped.FindStringSubmatch(place)
		return marks[1] + b.String() + marks[2]
	})
}
