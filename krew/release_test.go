package krew

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// release is what is read of .goreleaser.yaml.
type release struct {
	Version     int    `json:"version"`
	ProjectName string `json:"project_name"`
	Builds      []struct {
		Main    string   `json:"main"`
		Binary  string   `json:"binary"`
		Ldflags []string `json:"ldflags"`
		Goos    []string `json:"goos"`
		Goarch  []string `json:"goarch"`
	} `json:"builds"`
	Archives []archive `json:"archives"`
}

type archive struct {
	NameTemplate    string   `json:"name_template"`
	Formats         []string `json:"formats"`
	FormatOverrides []struct {
		Goos    string   `json:"goos"`
		Formats []string `json:"formats"`
	} `json:"format_overrides"`
	Files []string `json:"files"`
}

type system struct{ OS, Arch string }

func readRelease(t *testing.T) release {
	t.Helper()
	text, err := os.ReadFile("../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var r release
	if err := yaml.Unmarshal(text, &r); err != nil {
		t.Fatalf("reading .goreleaser.yaml: %v", err)
	}
	if r.Version != 2 || len(r.Builds) != 1 {
		t.Fatalf("want one build in goreleaser's second syntax, not %d in version %d", len(r.Builds), r.Version)
	}
	return r
}

func (r release) archive(t *testing.T) archive {
	t.Helper()
	if len(r.Archives) != 1 {
		t.Fatalf("want one archive for each system, not %d", len(r.Archives))
	}
	return r.Archives[0]
}

// releaseArchives gives the names that goreleaser would give the archives of a tag.
func releaseArchives(t *testing.T, tag string) map[system]string {
	t.Helper()
	r := readRelease(t)
	a, names := r.archive(t), map[system]string{}
	for _, goos := range r.Builds[0].Goos {
		formats := a.Formats
		for _, o := range a.FormatOverrides {
			if o.Goos == goos {
				formats = o.Formats
			}
		}
		if len(formats) != 1 {
			t.Fatalf("%s has %d archive formats; krew downloads one", goos, len(formats))
		}
		for _, arch := range r.Builds[0].Goarch {
			name, err := expand(a.NameTemplate, map[string]string{
				"ProjectName": r.ProjectName, "Binary": r.Builds[0].Binary, "Os": goos, "Arch": arch,
				"Tag": tag, "Version": strings.TrimPrefix(tag, "v"),
			})
			if err != nil {
				t.Fatalf("name_template: %v", err)
			}
			names[system{goos, arch}] = name + "." + formats[0]
		}
	}
	return names
}

func TestSystems(t *testing.T) {
	archives := releaseArchives(t, tag)
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			if archives[system{goos, arch}] == "" {
				t.Errorf("nothing is released for %s/%s", goos, arch)
			}
		}
	}
}

// TestVersionVariable holds the name that the linker is given against the code, because the linker says nothing of a
// variable that is not there.
func TestVersionVariable(t *testing.T) {
	module, err := exec.CommandContext(t.Context(), "go", "list", "-m").Output()
	if err != nil {
		t.Fatal(err)
	}
	flags := strings.Join(readRelease(t).Builds[0].Ldflags, " ")
	found := regexp.MustCompile(`-X (\S+)\.(\w+)=`).FindStringSubmatch(flags)
	if found == nil {
		t.Fatalf("ldflags %q set no version", flags)
	}
	dir, ours := strings.CutPrefix(found[1], strings.TrimSpace(string(module))+"/")
	if !ours {
		t.Fatalf("ldflags set a variable of %s, which is not in module %s", found[1], module)
	}
	if !slices.Contains(variables(t, filepath.Join("..", dir)), found[2]) {
		t.Errorf("ldflags set %s.%s, which does not exist", found[1], found[2])
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
