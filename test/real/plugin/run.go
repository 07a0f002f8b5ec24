// Package plugin runs the binary of kubectl gc against the cluster of a test.
package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// Answer is the output of a command, with its exit code.
type Answer struct {
	Stdout, Stderr string
	Code           int
}

// Run runs a command as the administrator.
func Run(t testing.TB, c *testcluster.Cluster, args ...string) Answer {
	t.Helper()
	root, err := testcluster.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "kubectl-gc"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig(), "KUBECACHEDIR="+t.TempDir())
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("running kubectl gc: %v: run \"make build\" first", err)
	}
	return Answer{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
}

// JSON runs a command with -o json, decodes its output into out, and gives the exit code.
func JSON(t testing.TB, c *testcluster.Cluster, out any, args ...string) int {
	t.Helper()
	a := Run(t, c, append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(a.Stdout), out); err != nil {
		t.Fatalf("kubectl gc %q printed no JSON: %v\n%s%s", args, err, a.Stdout, a.Stderr)
	}
	return a.Code
}
