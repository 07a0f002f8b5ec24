package upstream

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEditsFindTheirPlaces edits the tests of the version that is pinned, which is that of the
// control plane of the other tests.
func TestEditsFindTheirPlaces(t *testing.T) {
	if names := testsIn(t, edited(t)); len(names) != 15 {
		t.Errorf("upstream has %d tests, the README says 15: %q", len(names), names)
	}
	pinned := version(t, ".")
	if other := version(t, "../controlplane"); pinned != other {
		t.Errorf("k8s.io/kubernetes is %s here, and %s in test/controlplane", pinned, other)
	}
}

// TestEditRefusesAnotherText: what upstream has changed is not tested by accident as it is.
func TestEditRefusesAnotherText(t *testing.T) {
	from := filepath.Join(t.TempDir(), filepath.FromSlash(source))
	if err := os.MkdirAll(from, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(from, edits[0].file), []byte("package garbagecollector\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Edit(strings.TrimSuffix(from, filepath.FromSlash(source)), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "is there 0 times") {
		t.Errorf("the error is %v", err)
	}
}

// TestUpstreamsTestsPass runs all of upstream's tests, and wants each to pass.
func TestUpstreamsTestsPass(t *testing.T) {
	// It takes more than 10 s, so that make test leaves it out: half of Kubernetes is compiled.
	dir := edited(t)
	cmd := exec.CommandContext(t.Context(), "go", "test", "-json", "-count=1", "-vet=off", "-timeout=40m",
		"-overlay="+overlay(t, dir), "./integration")
	cmd.Env = append(os.Environ(), "KUBECTL_GC="+built(t, "kubectl-gc"),
		"PATH="+etcd(t)+string(os.PathListSeparator)+os.Getenv("PATH"),
		// Nothing answers there, so that each run starts an etcd of its own.
		"KUBE_INTEGRATION_ETCD_URL=http://127.0.0.1:1")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	outputs, passed := map[string]*strings.Builder{}, []string{}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e struct {
			Action, Test, Output string
			Elapsed              float64
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Errorf("go test has printed %q", lines.Text())
			continue
		}
		if outputs[e.Test] == nil {
			outputs[e.Test] = &strings.Builder{}
		}
		switch {
		case e.Action == "pass" && e.Test != "":
			t.Logf("%s passed in %.0f s", e.Test, e.Elapsed)
			passed = append(passed, e.Test)
		case e.Action == "fail" || e.Action == "skip":
			t.Errorf("%s: %s\n%s", e.Action, e.Test, outputs[e.Test])
		default:
			outputs[e.Test].WriteString(e.Output)
		}
	}
	if err := cmd.Wait(); err != nil || lines.Err() != nil {
		t.Errorf("go test: %v, %v", err, lines.Err())
	}
	slices.Sort(passed)
	if want := testsIn(t, dir); !slices.Equal(passed, want) {
		t.Errorf("%d of %d passed: %q", len(passed), len(want), passed)
	}
}

// edited returns a directory with upstream's tests, edited.
func edited(t *testing.T) string {
	t.Helper()
	kubernetes, err := Module()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := Edit(kubernetes, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// overlay writes the file that has go take what is in a directory as if it stood in integration.
func overlay(t *testing.T, dir string) string {
	t.Helper()
	as, err := filepath.Abs("integration")
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for _, f := range files {
		replace[filepath.Join(as, f.Name())] = filepath.Join(dir, f.Name())
	}
	content, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// built returns the path of a program that the Makefile builds.
func built(t *testing.T, name string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("..", "..", "bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("%v: run \"make build controlplane\" first", err)
	}
	return file
}

// etcd returns a directory with the program etcd in it, which upstream's tests start: the control
// plane's, called by that name.
func etcd(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(built(t, "controlplane"), filepath.Join(dir, "etcd")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// testsIn returns the names of the tests in the files of a directory, sorted.
func testsIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
				names = append(names, f.Name.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// version returns the version of k8s.io/kubernetes that a module requires.
func version(t *testing.T, module string) string {
	t.Helper()
	v, err := output("go", "-C", module, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		t.Fatal(err)
	}
	return v
}
