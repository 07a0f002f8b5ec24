package garbagecollector

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"time"

	"k8s.io/kubernetes/test/utils/ktesting"
)

// Binary is the variable of the environment that names the file of the plugin.
const Binary = "KUBECTL_GC"

// patience is how long the process may take to end when it is interrupted.
const patience = 10 * time.Second

// collect runs the plugin as the collector of a cluster until the context ends. The test waits for
// the end, and fails if the process has ended before.
func collect(ctx context.Context, test ktesting.TContext, kubeconfig string) {
	ended := make(chan struct{})
	test.Cleanup(func() { <-ended })
	defer close(ended)
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, os.Getenv(Binary), "run", "--yes", "--watch", "--kubeconfig", kubeconfig)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	err := cmd.Run()
	if ctx.Err() == nil {
		test.Errorf("kubectl gc run --watch has ended: %v", err)
	}
	test.Logf("kubectl gc run --watch has printed\n%s", &out)
}
