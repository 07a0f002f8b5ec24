package testcluster

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Command gives a command that runs kubectl as the administrator, for tests that want its streams, its
// environment or its exit code.
func (c *Cluster) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.binary, append([]string{"kubectl"}, args...)...)
	cmd.Env = append(os.Environ(),
		"KUBECONFIG="+c.Kubeconfig(),
		// What kubectl knows of a server it files by the port, and another test's server may have had the same.
		"KUBECACHEDIR="+filepath.Join(filepath.Dir(c.dir), "kubectl-cache"),
		"KUBERC=off",
	)
	return cmd
}

// Kubectl runs kubectl as the administrator and gives what it printed on stdout.
func (c *Cluster) Kubectl(t testing.TB, args ...string) string {
	t.Helper()
	ctx, cancel := toolContext(t)
	defer cancel()
	return output(t, c.Command(ctx, args...))
}

// Apply applies a manifest, server-side; args may add flags such as -n.
func (c *Cluster) Apply(t testing.TB, manifest string, args ...string) {
	t.Helper()
	ctx, cancel := toolContext(t)
	defer cancel()
	cmd := c.Command(ctx, append([]string{"apply", "--server-side", "-f", "-"}, args...)...)
	cmd.Stdin = strings.NewReader(manifest)
	output(t, cmd)
}

// toolContext bounds a command that a test runs. It is not the test's own context, which is done by the time
// that a cleanup deletes what the test made outside its namespace.
func toolContext(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(t.Context()), 3*time.Minute)
}

// output runs cmd to its end and fails the test if it fails.
func output(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args[1:], " "), err, stdout, &stderr)
	}
	return string(stdout)
}
