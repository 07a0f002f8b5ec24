// Package workflows tests the workflows of continuous integration and of releases: what they run is
// pinned, they may do no more than they need, and the targets they make exist.
package workflows

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

type workflow struct {
	Name        string            `json:"name"`
	Permissions map[string]string `json:"permissions"`
	Jobs        map[string]job    `json:"jobs"`
}

type job struct {
	Timeout     int               `json:"timeout-minutes"`
	Permissions map[string]string `json:"permissions"`
	Strategy    struct {
		Matrix map[string][]string `json:"matrix"`
	} `json:"strategy"`
	Steps []step `json:"steps"`
}

type step struct {
	Uses string         `json:"uses"`
	With map[string]any `json:"with"`
	Run  string         `json:"run"`
}

// read returns the workflows by their files, and the text of each.
func read(t *testing.T) (map[string]workflow, map[string]string) {
	t.Helper()
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	all, texts := map[string]workflow{}, map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[filepath.Base(file)], texts[filepath.Base(file)] = w, string(text)
	}
	return all, texts
}

var pinned = regexp.MustCompile(`^\s*-? *uses: ([\w.-]+/[\w./-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$`)

// TestActionsArePinnedByDigest, with the version in a comment, and the same everywhere: a tag can
// be moved to other code.
func TestActionsArePinnedByDigest(t *testing.T) {
	t.Parallel()
	_, texts := read(t)
	known := map[string]string{}
	for file, text := range texts {
		for line := range strings.Lines(text) {
			if !strings.Contains(line, "uses:") {
				continue
			}
			m := pinned.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m == nil {
				t.Errorf("%s: not pinned by a digest and a version: %s", file, line)
				continue
			}
			if at := m[2] + " " + m[3]; known[m[1]] == "" {
				known[m[1]] = at
			} else if known[m[1]] != at {
				t.Errorf("%s: %s is pinned to %s here and %s elsewhere", file, m[1], at, known[m[1]])
			}
		}
	}
}

// TestWorkflowsMayWriteOnlyWhereTheyRelease, and nothing of a checkout can push but what has to.
func TestWorkflowsMayWriteOnlyWhereTheyRelease(t *testing.T) {
	t.Parallel()
	all, _ := read(t)
	for file, w := range all {
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: every job may %v", file, w.Permissions)
		}
		for name, j := range w.Jobs {
			if j.Timeout == 0 || j.Timeout > 360 {
				t.Errorf("%s: job %s may run for %d minutes", file, name, j.Timeout)
			}
			if len(j.Permissions) > 0 && file != "release.yml" {
				t.Errorf("%s: job %s may %v", file, name, j.Permissions)
			}
			for _, s := range j.Steps {
				pushes := name == "index"
				if kept := s.With["persist-credentials"] != false; strings.HasPrefix(s.Uses, "actions/checkout@") &&
					kept != pushes {
					t.Errorf("%s: the checkout of job %s keeps its token: %t", file, name, kept)
				}
			}
		}
	}
}

// TestScriptsTakeNoTextOfEvents: an expression in a script is code that whoever names a branch can
// write.
func TestScriptsTakeNoTextOfEvents(t *testing.T) {
	t.Parallel()
	all, _ := read(t)
	for file, w := range all {
		for name, j := range w.Jobs {
			for _, s := range j.Steps {
				if strings.Contains(s.Run, "${{") {
					t.Errorf("%s: job %s: pass it as a variable of the environment: %s", file, name, s.Run)
				}
			}
		}
	}
}

// TestTargetsExist that the workflows make, and the goreleaser that they run is the one that
// test/goreleaser pins.
func TestTargetsExist(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile("../goreleaser/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	all, _ := read(t)
	for file, w := range all {
		for name, j := range w.Jobs {
			targets := j.Strategy.Matrix["target"]
			for _, s := range j.Steps {
				if target, ok := strings.CutPrefix(s.Run, "make "); ok && !strings.Contains(target, "$") {
					targets = append(targets, strings.TrimSpace(target))
				}
				if version, ok := s.With["version"].(string); ok && strings.HasPrefix(s.Uses, "goreleaser/") &&
					!strings.Contains(string(module), "goreleaser/v2 "+version+" ") {
					t.Errorf("%s: job %s runs goreleaser %s, which is not that of test/goreleaser/go.mod", file, name, version)
				}
			}
			for _, s := range j.Steps {
				if script, ok := strings.CutPrefix(s.Run, "test/"); ok {
					script, _, _ = strings.Cut(script, " ")
					if info, err := os.Stat("../" + script); err != nil || info.Mode().Perm()&0o111 == 0 {
						t.Errorf("%s: job %s runs test/%s, which is no executable: %v", file, name, script, err)
					}
				}
			}
			for _, target := range targets {
				made++
				if !strings.Contains(string(makefile), "\n"+target+":") {
					t.Errorf("%s: job %s makes %s, which the Makefile does not have", file, name, target)
				}
			}
		}
	}
	if made == 0 {
		t.Error("no workflow makes anything")
	}
}

// TestDependabotKnowsEveryModule: what is not in its list gets no updates, and nobody notices.
func TestDependabotKnowsEveryModule(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../.github/dependabot.yml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Updates []struct {
			Ecosystem   string   `json:"package-ecosystem"`
			Directory   string   `json:"directory"`
			Directories []string `json:"directories"`
		} `json:"updates"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	var known, modules []string
	for _, u := range config.Updates {
		if u.Ecosystem == "gomod" {
			known = append(append(known, u.Directories...), u.Directory)
		}
	}
	err = filepath.WalkDir("../..", func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == "go.mod" {
			dir, _ := filepath.Rel("../..", filepath.Dir(path)) // of a path below it
			modules = append(modules, strings.TrimSuffix("/"+filepath.ToSlash(dir), "."))
		}
		return err
	})
	if err != nil || len(modules) < 2 {
		t.Fatalf("%v: the modules are %v", err, modules)
	}
	for _, module := range modules {
		if !slices.Contains(known, module) {
			t.Errorf("dependabot does not know the module in %s", module)
		}
	}
	for _, dir := range known {
		if dir != "" && !slices.Contains(modules, dir) {
			t.Errorf("dependabot looks for a module in %s, where none is", dir)
		}
	}
}

// TestTheIndexBelievesOnlyWhatIsSigned, and changes no branch that others install from.
func TestTheIndexBelievesOnlyWhatIsSigned(t *testing.T) {
	t.Parallel()
	all, _ := read(t)
	var script strings.Builder
	for _, s := range all["release.yml"].Jobs["index"].Steps {
		script.WriteString(s.Run)
	}
	verified, used := strings.Index(script.String(), "cosign verify-blob"), strings.Index(script.String(), "publish manifest")
	if verified < 0 || used < verified {
		t.Errorf("the checksums are used before their signature was verified:\n%s", &script)
	}
	for line := range strings.Lines(script.String()) {
		if strings.Contains(line, "git push") && !strings.Contains(line, "git push origin \"krew-index-") {
			t.Errorf("it pushes to another branch than its own: %s", line)
		}
	}
}

// TestFormsAreComplete: GitHub shows none of a form that has a mistake.
func TestFormsAreComplete(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../.github/ISSUE_TEMPLATE/*.yml")
	if err != nil || len(files) < 2 {
		t.Fatalf("the forms are %v: %v", files, err)
	}
	for _, file := range files {
		if filepath.Base(file) == "config.yml" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var form struct {
			Name        string   `json:"name"`
			Description string   `json:"description"`
			Labels      []string `json:"labels"`
			Body        []struct {
				Type       string `json:"type"`
				ID         string `json:"id"`
				Attributes struct {
					Label       string `json:"label"`
					Description string `json:"description"`
					Placeholder string `json:"placeholder"`
					Render      string `json:"render"`
					Value       string `json:"value"`
				} `json:"attributes"`
				Validations map[string]bool `json:"validations"`
			} `json:"body"`
		}
		if err := yaml.UnmarshalStrict(text, &form); err != nil || form.Name == "" || form.Description == "" {
			t.Errorf("%s: %v: it is called %q, %q", file, err, form.Name, form.Description)
		}
		ids := map[string]bool{}
		for _, field := range form.Body {
			switch {
			case field.Type == "markdown" && field.Attributes.Value != "":
			case field.Type != "input" && field.Type != "textarea", field.Attributes.Label == "", field.ID == "", ids[field.ID]:
				t.Errorf("%s: the field %q is %+v", file, field.ID, field)
			}
			ids[field.ID] = true
		}
	}
}
