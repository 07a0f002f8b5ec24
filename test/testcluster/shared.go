package testcluster

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared are the control planes of this test package. A test binary is one package, and go test
// gives tests no other place to share something in.
var shared struct {
	sync.Mutex
	wrapped bool
	options []Option
	planes  map[string]*sharedPlane
}

// sharedPlane is one of them. It is started once, next to others that tests ask for meanwhile.
type sharedPlane struct {
	started sync.Once
	dir     string
	cluster *Cluster
	err     error
}

// Runner is what TestMain is given, or what stands for it.
type Runner interface{ Run() int }

// Main is to be called from TestMain. It runs the tests, stops what Shared started, and exits.
func Main(m *testing.M, opts ...Option) { os.Exit(Wrap(m, opts...).Run()) }

// Wrap does what Main does without exiting, for packages whose TestMain belongs to someone else,
// such as testscript.
func Wrap(m Runner, opts ...Option) Runner {
	shared.Lock()
	defer shared.Unlock()
	shared.wrapped, shared.options = true, opts
	return runnerFunc(func() int {
		overlap()
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

// Shared gives the control plane that the tests of a package share, and starts it if it is the
// first that asks. Under -short it skips the test.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	return sharedAs(t, "", func() []Option { return shared.options })
}

// Another gives one more control plane that the tests of a package share, by a name, for those that
// compare two. It is started with the options of the first that asks. Under -short it skips the
// test.
func Another(t testing.TB, name string, opts ...Option) *Cluster {
	t.Helper()
	return sharedAs(t, name, func() []Option { return opts })
}

func sharedAs(t testing.TB, name string, opts func() []Option) *Cluster {
	t.Helper()
	skipIfShort(t)
	p, err := planeOf(name)
	if err != nil {
		t.Fatal(err)
	}
	p.started.Do(func() {
		if p.dir, p.err = os.MkdirTemp("", "testcluster-"); p.err == nil {
			p.cluster, p.err = start(p.dir, opts())
		}
	})
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.cluster
}

// planeOf finds the control plane of a name, which need not be started yet.
func planeOf(name string) (*sharedPlane, error) {
	shared.Lock()
	defer shared.Unlock()
	if !shared.wrapped {
		return nil, errors.New("the package's TestMain has to call testcluster.Main or testcluster.Wrap")
	}
	if shared.planes == nil {
		shared.planes = map[string]*sharedPlane{}
	}
	if shared.planes[name] == nil {
		shared.planes[name] = &sharedPlane{}
	}
	return shared.planes[name], nil
}

func stopShared() error {
	shared.Lock()
	defer shared.Unlock()
	var errs []error
	for _, p := range shared.planes {
		if p.cluster != nil {
			errs = append(errs, p.cluster.running.stop())
		}
		if p.dir != "" {
			errs = append(errs, os.RemoveAll(p.dir))
		}
	}
	return errors.Join(errs...)
}
