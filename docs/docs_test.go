package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/docs"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

// TestReference fails when a command's help is not what docs/cli says.
func TestReference(t *testing.T) {
	const dir = "cli"
	want := map[string]string{}
	for _, page := range docs.Reference(cmd.NewRoot(genericiooptions.NewTestIOStreamsDiscard())) {
		want[page.File] = page.Text
	}
	have, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range have {
		if _, wanted := want[filepath.Base(path)]; !wanted {
			t.Errorf("docs/%s is of no command; run make docs", path)
		}
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Errorf("%v; run make docs", err)
			continue
		}
		if string(got) != text {
			t.Errorf("docs/%s/%s is out of date; run make docs\n%s", dir, name, firstDifference(string(got), text))
		}
	}
}

// TestReferenceIsPortable fails when a page says something of the machine where it was written.
func TestReferenceIsPortable(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECACHEDIR", filepath.Join(home, "cache"))
	for _, page := range docs.Reference(cmd.NewRoot(genericiooptions.NewTestIOStreamsDiscard())) {
		if strings.Contains(page.Text, home) {
			t.Errorf("%s contains the home directory", page.File)
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range w {
		if i >= len(g) {
			return "it ends before: " + w[i]
		}
		if g[i] != w[i] {
			return "it says:  " + g[i] + "\ninstead of: " + w[i]
		}
	}
	return "it goes on after the end"
}
