// Package rules_test holds the rules of garbage collection against the source of Kubernetes.
package rules_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A source in docs/gc-semantics.md is a file, which begins with its Go module in k8s.io, and
// functions or types of it.
var (
	source      = regexp.MustCompile("`([a-z-]+)/([^`]+\\.go)`(?: \\(((?:`\\w+`(?:, )?)+)\\))?")
	declaration = regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type )(\w+)`)
	quoted      = regexp.MustCompile("`(\\w+)`")
)

// TestSourcesOfTheRules fails when a rule names a file or a function that Kubernetes does not have
// in the version that is built here.
func TestSourcesOfTheRules(t *testing.T) {
	page, err := os.ReadFile("../../../docs/gc-semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	sources := source.FindAllStringSubmatch(string(page), -1)
	if len(sources) == 0 {
		t.Fatal("the page names no sources")
	}
	modules := map[string]string{}
	for _, s := range sources {
		module, file := s[1], s[2]
		if modules[module] == "" {
			modules[module] = folder(t, "k8s.io/"+module)
		}
		text, err := os.ReadFile(filepath.Join(modules[module], file))
		if err != nil {
			t.Errorf("%s/%s: %v", module, file, err)
			continue
		}
		declared := map[string]bool{}
		for _, d := range declaration.FindAllStringSubmatch(string(text), -1) {
			declared[d[1]] = true
		}
		for _, name := range quoted.FindAllStringSubmatch(s[3], -1) {
			if !declared[name[1]] {
				t.Errorf("%s/%s does not declare %s", module, file, name[1])
			}
		}
	}
}

// folder is where the source of a module is.
func folder(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatalf("go list -m %s: %v", module, err)
	}
	return strings.TrimSpace(string(out))
}
