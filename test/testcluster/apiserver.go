package testcluster

import (
	"os/exec"
	"testing"
)

// StopAPIServer kills the API server. The data stays, and controllers go on without a server. Only
// a test with a control plane of its own may call it.
func (c *Cluster) StopAPIServer(t testing.TB) {
	t.Helper()
	c.apiserver(t, "stop")
}

// StartAPIServer starts the API server again on the same port, and returns when it is ready.
func (c *Cluster) StartAPIServer(t testing.TB) {
	t.Helper()
	c.apiserver(t, "start")
}

func (c *Cluster) apiserver(t testing.TB, what string) {
	t.Helper()
	ctx, cancel := toolContext(t)
	defer cancel()
	if _, err := output(exec.CommandContext(ctx, c.binary, "apiserver", "--dir", c.dir, what)); err != nil {
		t.Fatal(err)
	}
}
