package testcluster

import (
	"os/exec"
	"strings"
	"testing"
)

// StartControllers starts controllers beside those that run, and returns when they work.
func (c *Cluster) StartControllers(t testing.TB, names ...string) {
	t.Helper()
	c.controllers(t, strings.Join(names, ","))
}

// StopControllers stops all controllers, hard.
func (c *Cluster) StopControllers(t testing.TB) {
	t.Helper()
	c.controllers(t, "none")
}

func (c *Cluster) controllers(t testing.TB, list string) {
	t.Helper()
	ctx, cancel := toolContext(t)
	defer cancel()
	if _, err := output(exec.CommandContext(ctx, c.binary, "controllers", "--dir", c.dir, list)); err != nil {
		t.Fatal(err)
	}
}
