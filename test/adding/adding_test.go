// Package adding holds what docs/ARCHITECTURE.md says that adding something costs.
package adding

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// mostFiles is how many files the page says that each needs at most.
const mostFiles = 3

var root = filepath.Join("..", "..")

// read adds the files of an example, which are new or lines that go after one of a file, to those
// that take the place of the product's. It returns how many they are.
func read(t *testing.T, path string, instead map[string][]byte) int {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	for _, f := range archive.Files {
		files[f.Name] = true
		instead[f.Name] = edited(t, path, f, instead[f.Name])
	}
	return len(files)
}

// edited is a file of the product with the lines of the example, or the file of the example.
func edited(t *testing.T, example string, f txtar.File, before []byte) []byte {
	t.Helper()
	anchor, added, _ := bytes.Cut(f.Data, []byte("\n"))
	line, inserts := bytes.CutPrefix(anchor, []byte("after: "))
	if !inserts {
		return f.Data
	}
	if before == nil {
		var err error
		if before, err = os.ReadFile(filepath.Join(root, f.Name)); err != nil {
			t.Fatal(err)
		}
	}
	found := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(string(line)) + `\n`).FindIndex(before)
	if found == nil {
		t.Fatalf("%s: %s has no line %q; say in the example where the lines go now", example, f.Name, line)
	}
	at := found[1]
	return append(append(append([]byte{}, before[:at]...), added...), before[at:]...)
}

// TestAddingCostsWhatTheMapSays compiles the product with one more of each, from at most as many
// files as docs/ARCHITECTURE.md says.
func TestAddingCostsWhatTheMapSays(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no examples: %v", err)
	}
	instead := map[string][]byte{}
	for _, path := range paths {
		if n := read(t, path, instead); n > mostFiles {
			t.Errorf("%s: it takes %d files, and the page says %d", path, n, mostFiles)
		}
	}
	dir := t.TempDir()
	base, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, data := range instead {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(base, name)] = file
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-overlay", list, "./pkg/cmd/...")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestTheMapNamesTheFilesOfItsExamples: of what the table of docs/ARCHITECTURE.md says is to be
// changed, all is there, each row has at most as many files as it says, and they are those that its
// example changes.
func TestTheMapNamesTheFilesOfItsExamples(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "## How to add\n")
	if !found {
		t.Fatal("the page has no such part")
	}
	rows := regexp.MustCompile(`(?m)^\| an? ([^|]+) \| ([^|]+) \| ([^|]+) \|$`).FindAllStringSubmatch(table, -1)
	if len(rows) < 7 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	named := map[string][]string{}
	for _, row := range rows {
		files := regexp.MustCompile("`((?:pkg|plugins|test)/[^`]+)`").FindAllStringSubmatch(row[2], -1)
		if len(files) > mostFiles {
			t.Errorf("%s: %d files", row[1], len(files))
		}
		for _, f := range files {
			named[row[1]] = append(named[row[1]], f[1])
			if _, err := os.Stat(filepath.Join(root, f[1])); err != nil && !strings.Contains(f[1], "<") {
				t.Errorf("%s: %v", row[1], err)
			}
		}
	}
	examples, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range examples {
		what := strings.TrimSuffix(filepath.Base(path), ".txtar")
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range unnamed(named[what], archive.Files) {
			t.Errorf("%s: its row does not name %s, or its example does not change it", what, name)
		}
	}
}

// unnamed returns the files of an example that no name of its row is for, and the names that are for
// none. In a name, <x> stands for any word, and a folder for one file below it.
func unnamed(names []string, files []txtar.File) []string {
	left := map[string]bool{}
	for _, f := range files {
		left[f.Name] = true
	}
	var wrong []string
	for _, name := range names {
		pattern := regexp.MustCompile(`<\w+>`).ReplaceAllString(regexp.QuoteMeta(name), `[^/]+`)
		if !strings.HasSuffix(name, ".go") {
			pattern += `/[^/]+/[^/]+`
		}
		is, found := regexp.MustCompile("^"+pattern+"$"), false
		for f := range left {
			if is.MatchString(f) {
				delete(left, f)
				found = true
			}
		}
		if !found {
			wrong = append(wrong, name)
		}
	}
	return append(wrong, slices.Sorted(maps.Keys(left))...)
}
