package docs_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/docs"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

// TestManPages: each command has one, with the connection flags in that of the root only, and
// nothing of the machine that writes them.
func TestManPages(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECACHEDIR", filepath.Join(home, "cache"))
	root := cmd.NewRoot(genericiooptions.NewTestIOStreamsDiscard())
	pages, err := docs.Man(root, "v1.2.3", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, page := range pages {
		text[page.File] = page.Text
		if strings.Contains(page.Text, home) {
			t.Errorf("%s contains the home directory", page.File)
		}
		if connection := strings.Contains(page.Text, `\-\-kubeconfig`) ||
			strings.Contains(page.Text, "--kubeconfig"); connection != (page.File == "kubectl-gc.1") {
			t.Errorf("%s has the connection flags: %t", page.File, connection)
		}
		if !strings.Contains(page.Text, `"Jan 2026" "kubectl gc v1.2.3"`) {
			t.Errorf("%s does not say of which release it is:\n%.200s", page.File, page.Text)
		}
	}
	for _, child := range root.Commands() {
		if page := "kubectl-gc-" + child.Name() + ".1"; child.IsAvailableCommand() &&
			!strings.Contains(text[page], child.Short) {
			t.Errorf("%s does not say what %s does", page, child.Name())
		}
	}
}
