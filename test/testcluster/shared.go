package testcluster

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared is the control plane of this test package. A test binary is one package, and go test gives tests
// no other place to share something in.
var shared struct {
	sync.Mutex
	wrapped bool
	options []Option
	dir     string
	cluster *Cluster
	err     error
}

// Runner is what TestMain is given, or what stands for it.
type Runner interface{ Run() int }

// Main is to be called from TestMain. It runs the tests, stops what Shared started, and exits.
func Main(m *testing.M, opts ...Option) { os.Exit(Wrap(m, opts...).Run()) }

// Wrap does what Main does without exiting, for packages whose TestMain belongs to someone else, such as
// testscript.
func Wrap(m Runner, opts ...Option) Runner {
	shared.Lock()
	defer shared.Unlock()
	shared.wrapped, shared.options = true, opts
	return runnerFunc(func() int {
		code := m.Run()
		if err := stopShared(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return max(code, 1)
		}
		return code
	})
}

type runnerFunc func() int

func (f runnerFunc) Run() int { return f() }

// Shared gives the control plane that the tests of a package share, and starts it if it is the first that asks.
// Under -short it skips the test.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	skipIfShort(t)
	shared.Lock()
	defer shared.Unlock()
	if !shared.wrapped {
		t.Fatal("the package's TestMain has to call testcluster.Main or testcluster.Wrap")
	}
	if shared.cluster == nil && shared.err == nil {
		if shared.dir, shared.err = os.MkdirTemp("", "testcluster-"); shared.err == nil {
			shared.cluster, shared.err = start(shared.dir, shared.options)
		}
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.cluster
}

func stopShared() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.dir != "" {
		defer os.RemoveAll(shared.dir)
	}
	if shared.cluster == nil {
		return nil
	}
	return shared.cluster.running.stop()
}
