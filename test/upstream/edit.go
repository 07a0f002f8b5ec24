package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// source is where upstream has the tests, in its module.
const source = "test/integration/garbagecollector"

// edit is an exact replacement in one of upstream's files.
type edit struct{ file, from, to string }

// edits make the tests construct the collector of package garbagecollector here. Upstream's
// constructor takes clients; a process needs what they were made of.
var edits = []edit{
	{"garbage_collector_test.go", `"k8s.io/kubernetes/pkg/controller/garbagecollector"`,
		`"github.com/kubectl-gc/kubectl-gc/test/upstream/garbagecollector"`},
	{"garbage_collector_test.go", "NewGarbageCollector(\n\t\ttCtx,\n",
		"NewGarbageCollector(\n\t\ttCtx,\n\t\tresult.ClientConfig,\n"},
}

// Edit copies upstream's tests to a directory and edits the copies. The directory of
// k8s.io/kubernetes is that of its module. Edit fails if a place that it would edit is not there,
// or is there twice.
func Edit(kubernetes, to string) error {
	files, err := filepath.Glob(filepath.Join(kubernetes, filepath.FromSlash(source), "*_test.go"))
	if err != nil || len(files) == 0 {
		return errors.Join(fmt.Errorf("finding upstream's tests in %s: there are none", kubernetes), err)
	}
	copied := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		copied[filepath.Base(file)] = string(content)
	}
	for _, e := range edits {
		if n := strings.Count(copied[e.file], e.from); n != 1 {
			return fmt.Errorf("editing upstream's %s: %q is there %d times, want once: adapt the edits to this version", e.file,
				e.from, n)
		}
		copied[e.file] = strings.Replace(copied[e.file], e.from, e.to, 1)
	}
	for name, content := range copied {
		if err := os.WriteFile(filepath.Join(to, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Module returns the directory of k8s.io/kubernetes in the version that this module requires. It is
// fetched if it is not there.
func Module() (string, error) {
	const module = "k8s.io/kubernetes"
	if _, err := output("go", "mod", "download", module); err != nil {
		return "", err
	}
	return output("go", "list", "-m", "-f", "{{.Dir}}", module)
}

func output(name string, args ...string) (string, error) {
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running %s %s: %w: %s", name, strings.Join(args, " "), err, &stderr)
	}
	return strings.TrimSpace(string(out)), nil
}
