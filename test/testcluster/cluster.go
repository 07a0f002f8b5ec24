package testcluster

import (
	"fmt"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Cluster is a control plane that runs.
type Cluster struct {
	binary, dir string
	config      *rest.Config
	running     *running
	requests    *requests
}

// Start starts a control plane for one test, which ends with it. Under -short it skips the test.
func Start(t testing.TB, opts ...Option) *Cluster {
	t.Helper()
	skipIfShort(t)
	c, err := start(t.TempDir(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.running.stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func skipIfShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane")
	}
}

func start(dir string, opts []Option) (*Cluster, error) {
	binary, err := findBinary()
	if err != nil {
		return nil, err
	}
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	c := &Cluster{binary: binary, dir: filepath.Join(dir, "controlplane")}
	if c.running, err = run(binary, c.dir, o.flags); err != nil {
		return nil, err
	}
	if c.config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig()); err != nil {
		_ = c.running.stop()
		return nil, fmt.Errorf("reading the control plane's kubeconfig: %w", err)
	}
	c.config.QPS = -1
	if c.requests, err = newRequests(c.config); err != nil {
		_ = c.running.stop()
		return nil, err
	}
	return c, nil
}

// Config gives a configuration of client-go for the administrator, without client-side throttling.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Kubeconfig gives the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }
