package krew

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func readRelease(t *testing.T) *Release {
	t.Helper()
	r, err := ReadRelease("..")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// releaseArchives gives the names that goreleaser would give the archives of a tag.
func releaseArchives(t *testing.T, tag string) map[System]string {
	t.Helper()
	r, names := readRelease(t), map[System]string{}
	for _, s := range r.Systems() {
		name, _, err := r.archiveName(s, map[string]string{"Tag": tag, "Version": strings.TrimPrefix(tag, "v")})
		if err != nil {
			t.Fatalf("name_template: %v", err)
		}
		names[s] = name
	}
	return names
}

// TestArchiveFiles holds what krew and completion need to be in every archive.
func TestArchiveFiles(t *testing.T) {
	var files []string
	for _, f := range readRelease(t).Archive().Files {
		files = append(files, f.Src)
	}
	for _, want := range []string{"LICENSE", "CHANGELOG.md", "plugins/kubectl_complete-gc",
		"plugins/kubectl_complete-gc.cmd", "man/*.1"} {
		if !slices.Contains(files, want) {
			t.Errorf("the archives do not hold %s", want)
		}
	}
}

func TestSystems(t *testing.T) {
	archives := releaseArchives(t, tag)
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			if archives[System{goos, arch}] == "" {
				t.Errorf("nothing is released for %s/%s", goos, arch)
			}
		}
	}
}

// TestVersionVariable holds the name that the linker is given against the code, because the linker
// says nothing of a variable that is not there.
func TestVersionVariable(t *testing.T) {
	module, err := exec.CommandContext(t.Context(), "go", "list", "-m").Output()
	if err != nil {
		t.Fatal(err)
	}
	flags := strings.Join(readRelease(t).Build().Ldflags, " ")
	all := regexp.MustCompile(`-X (\S+)\.(\w+)=`).FindAllStringSubmatch(flags, -1)
	if len(all) != 3 {
		t.Errorf("ldflags %q set %d variables, and not the version, the commit and its date", flags, len(all))
	}
	for _, found := range all {
		dir, ours := strings.CutPrefix(found[1], strings.TrimSpace(string(module))+"/")
		if !ours {
			t.Fatalf("ldflags set a variable of %s, which is not in module %s", found[1], module)
		}
		if !slices.Contains(variables(t, filepath.Join("..", dir)), found[2]) {
			t.Errorf("ldflags set %s.%s, which does not exist", found[1], found[2])
		}
	}
}

// variables lists the package's variables.
func variables(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
				for _, spec := range d.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}
