package testcluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Command gives a command that runs kubectl as the administrator, for tests that want its streams,
// its environment or its exit code.
func (c *Cluster) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.binary, append([]string{"kubectl"}, args...)...)
	// The program that is only kubectl starts in half the time.
	if alone := filepath.Join(filepath.Dir(c.binary), "kubectl"); isFile(alone) {
		cmd = exec.CommandContext(ctx, alone, args...)
	}
	cmd.Env = append(os.Environ(),
		"KUBECONFIG="+c.Kubeconfig(),
		// What kubectl knows of a server it files by the port, and another test's server may have
		// had the same.
		"KUBECACHEDIR="+filepath.Join(filepath.Dir(c.dir), "kubectl-cache"),
		"KUBERC=off",
		"GOGC=400", // it ends before what it would collect is in the way
	)
	return cmd
}

// Kubectl does as the administrator what kubectl does, and gives what it prints on stdout; of the
// few verbs that are done without a process (see verb), only get prints.
func (c *Cluster) Kubectl(t testing.TB, args ...string) string {
	t.Helper()
	return c.must(t, "", args...)
}

// Apply applies a manifest, server-side; args may add flags such as -n.
func (c *Cluster) Apply(t testing.TB, manifest string, args ...string) {
	t.Helper()
	c.must(t, manifest, append([]string{"apply", "--server-side", "-f", "-"}, args...)...)
}

func (c *Cluster) must(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	ctx, cancel := toolContext(t)
	defer cancel()
	out, err := c.Try(ctx, stdin, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Try is Kubectl for what may fail, such as in a loop that waits. Text that kubectl prints beside
// an error is in the error.
func (c *Cluster) Try(ctx context.Context, stdin string, args ...string) (string, error) {
	if out, known, err := c.requests.try(ctx, stdin, args); known {
		if err != nil {
			return "", fmt.Errorf("kubectl %s: %w", strings.Join(args, " "), err)
		}
		return out, nil
	}
	cmd := c.Command(ctx, args...)
	cmd.Stdin = strings.NewReader(stdin)
	return output(cmd)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// toolContext bounds a command that a test runs. It is not the test's own context, which is done by
// the time that a cleanup deletes what the test made outside its namespace.
func toolContext(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(t.Context()), 3*time.Minute)
}

// output runs cmd to its end and gives what it printed on stdout.
func output(cmd *exec.Cmd) (string, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(cmd.Args[1:], " "), err, stdout, &stderr)
	}
	return string(stdout), nil
}
