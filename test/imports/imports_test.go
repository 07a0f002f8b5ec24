// Package imports tests in which direction the product's packages import each other, and what they
// import from outside. It has no code, only the test.
package imports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goPackage is what go list says of a package. Imports are those of its own files without the
// tests, Deps all that they come to.
type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func TestImports(t *testing.T) {
	module, packages := product(t)
	for _, pkg := range packages {
		for _, problem := range check(module, pkg) {
			t.Error(problem)
		}
	}
}

// TestTheMapIsTrue: the table has no arrow that is not there, and the house is no higher than it
// says.
func TestTheMapIsTrue(t *testing.T) {
	module, packages := product(t)
	all, height := 0, map[string]int{}
	for name, below := range imports {
		pkg := slices.IndexFunc(packages, func(p goPackage) bool { return p.ImportPath == module+"/"+name })
		if pkg < 0 {
			t.Errorf("the table has %s, which is no package", name)
			continue
		}
		for _, inner := range below {
			if !slices.Contains(packages[pkg].Imports, module+"/"+inner) {
				t.Errorf("%s may import %s and does not: take it out of the table", name, inner)
			}
		}
		all += len(below)
	}
	if highest := 1 + floor("cmd/kubectl-gc", height); all != arrows || highest != floors {
		t.Errorf("there are %d arrows on %d floors, and the table says %d on %d", all, highest, arrows, floors)
	}
}

// floor is the place of a package above the leaves, which stand on the ground.
func floor(name string, known map[string]int) int {
	if at, ok := known[name]; ok {
		return at
	}
	at := 0
	if !slices.Contains(leaves, name) {
		for _, below := range imports[name] {
			at = max(at, floor(below, known))
		}
		at++
	}
	known[name] = at
	return at
}

// TestCheckFinds is there because a rule that never fires looks like one that is kept.
func TestCheckFinds(t *testing.T) {
	const module = "example.com/m"
	tests := []struct {
		name string
		pkg  goPackage
		want string
	}{
		{"upwards", goPackage{ImportPath: module + "/pkg/graph", Imports: []string{module + "/pkg/plan"}},
			"pkg/graph imports pkg/plan"},
		{"listing knows no plan", goPackage{ImportPath: module + "/pkg/cluster", Imports: []string{module + "/pkg/plan"}},
			"pkg/cluster imports pkg/plan"},
		{"printing knows no cluster", goPackage{ImportPath: module + "/pkg/render",
			Imports: []string{module + "/pkg/cluster"}}, "pkg/render imports pkg/cluster"},
		{"main stays thin", goPackage{ImportPath: module + "/cmd/kubectl-gc", Imports: []string{module + "/pkg/act"}},
			"cmd/kubectl-gc imports pkg/act"},
		{"the contract is a leaf", goPackage{ImportPath: module + "/pkg/api/v1alpha1",
			Imports: []string{module + "/pkg/graph"}}, "pkg/api/v1alpha1 imports pkg/graph"},
		{"tests from the product", goPackage{ImportPath: module + "/pkg/act",
			Imports: []string{module + "/test/testcluster"}}, "pkg/act imports test/testcluster"},
		{"a package without a place", goPackage{ImportPath: module + "/pkg/utils"}, "pkg/utils has no place"},
		{"a clock", goPackage{ImportPath: module + "/pkg/plan", Imports: []string{"time"}}, "pkg/plan imports time"},
		{"cobra", goPackage{ImportPath: module + "/pkg/act", Imports: []string{"github.com/spf13/cobra"}},
			"pkg/act imports github.com/spf13/cobra"},
		{"a table", goPackage{ImportPath: module + "/pkg/cmd", Imports: []string{"github.com/olekukonko/tablewriter/tw"}},
			"pkg/cmd imports github.com/olekukonko/tablewriter/tw"},
		{"colour", goPackage{ImportPath: module + "/pkg/cmd", Imports: []string{"github.com/fatih/color"}},
			"pkg/cmd imports github.com/fatih/color"},
		{"a client beside cluster's", goPackage{ImportPath: module + "/pkg/cmd",
			Imports: []string{"k8s.io/client-go/dynamic"}}, "pkg/cmd imports k8s.io/client-go/dynamic"},
		{"a client by a detour", goPackage{ImportPath: module + "/pkg/graph", Deps: []string{"k8s.io/client-go/rest"}},
			"pkg/graph depends on k8s.io/client-go/rest"},
		{"kubectl", goPackage{ImportPath: module + "/pkg/cmd", Deps: []string{"k8s.io/kubectl/pkg/cmd/util"}},
			"pkg/cmd depends on k8s.io/kubectl/pkg/cmd/util"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			problems := check(module, test.pkg)
			if len(problems) != 1 || !strings.HasPrefix(problems[0], test.want) {
				t.Errorf("got %q, want one problem that begins with %q", problems, test.want)
			}
		})
	}
}

// product lists the packages that are compiled into the plugin or could be. Tests and generators
// may import what they like.
func product(t *testing.T) (module string, packages []goPackage) {
	t.Helper()
	readSources(t, "../..")
	module = strings.TrimSpace(goList(t, "-m"))
	out := goList(t, "-json=ImportPath,Imports,Deps", module+"/cmd/...", module+"/pkg/...", module+"/plugins/...")
	for decoder := json.NewDecoder(strings.NewReader(out)); ; {
		var pkg goPackage
		err := decoder.Decode(&pkg)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("reading what go list printed: %v", err)
		}
		packages = append(packages, pkg)
	}
	if !slices.ContainsFunc(packages, func(p goPackage) bool { return p.ImportPath == module+"/pkg/cmd" }) {
		t.Fatalf("go list found no pkg/cmd among %d packages", len(packages))
	}
	return module, packages
}

// readSources looks at the folders that go list reads, because go test reuses an earlier result
// unless what this process itself has looked at is different now.
func readSources(t *testing.T, root string) {
	t.Helper()
	for _, dir := range []string{"cmd", "pkg", "plugins"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			t.Fatalf("looking through the sources: %v", err)
		}
	}
}

func goList(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		t.Fatalf("go list %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// check returns what is wrong with a package's imports, with the reason of the rule.
func check(module string, pkg goPackage) []string {
	name := strings.TrimPrefix(pkg.ImportPath, module+"/")
	below, placed := imports[name]
	if !placed && !slices.Contains(leaves, name) {
		return []string{fmt.Sprintf(
			"%s has no place in the house: say in the table of this test what it may import, or put it elsewhere", name)}
	}
	var problems []string
	for _, path := range pkg.Imports {
		if inner, ours := strings.CutPrefix(path, module+"/"); ours {
			if name == contract || !slices.Contains(leaves, inner) && !slices.Contains(below, inner) {
				problems = append(problems, fmt.Sprintf("%s imports %s: imports run one way, and from here they go to %s only",
					name, inner, strings.Join(slices.Concat(below, leaves), ", ")))
			}
			continue
		}
		for _, r := range outside {
			if !r.deep && r.forbids(name, path) {
				problems = append(problems, fmt.Sprintf("%s imports %s: %s", name, path, r.reason))
			}
		}
	}
	for _, r := range outside {
		if !r.deep {
			continue
		}
		if i := slices.IndexFunc(pkg.Deps, func(path string) bool { return r.forbids(name, path) }); i >= 0 {
			problems = append(problems, fmt.Sprintf("%s depends on %s: %s (go mod why %s)", name, pkg.Deps[i], r.reason,
				pkg.Deps[i]))
		}
	}
	return problems
}
