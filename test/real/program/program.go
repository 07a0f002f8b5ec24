// Package program runs a real controller as a child process of a test.
//
// The process ends with the test. On Linux it also ends if the test's own process is killed. Its
// output goes to a log file; a test that fails prints the end of it.
package program

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// patience is how long a program may take to become ready.
const patience = 2 * time.Minute

// between is the time between two checks for readiness.
const between = 50 * time.Millisecond

// Spec describes a program to run.
type Spec struct {
	// Name is the name of its file in bin, which is also the Makefile's target: bin/NAME.
	Name string
	// Args are its arguments, and Env is added to the environment of the test.
	Args, Env []string
	// Dir is the directory that it runs in; without one it runs in an empty one.
	Dir string
	// Ready reports whether the program is ready. A program without it is ready at once.
	Ready func(context.Context) bool
}

// Program is a running program.
type Program struct {
	spec      Spec
	file, dir string
	cmd       *exec.Cmd
	ended     chan struct{} // closed at the end of the process
}

// Start starts a program and waits until it is ready.
func Start(t testing.TB, spec Spec) *Program {
	t.Helper()
	file, err := find(spec.Name)
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{spec: spec, file: file, dir: t.TempDir()}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("the log of %s ends with\n%s", spec.Name, tail(p.log(), 60))
		}
	})
	p.Restart(t)
	return p
}

// Restart starts the program again after Kill, and waits until it is ready.
func (p *Program) Restart(t testing.TB) {
	t.Helper()
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	if err := p.await(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// find finds the file of a program.
func find(name string) (string, error) {
	root, err := testcluster.ModuleRoot()
	if err != nil {
		return "", err
	}
	file := filepath.Join(root, "bin", name)
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("finding %s: %w: run \"make bin/%s\" first", name, err, name)
	}
	return file, nil
}

// start starts the process.
func (p *Program) start() error {
	log, err := os.OpenFile(p.log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening a log: %w", err)
	}
	defer log.Close()
	p.cmd, p.ended = exec.Command(p.file, p.spec.Args...), make(chan struct{})
	p.cmd.Dir, p.cmd.Env = cmp.Or(p.spec.Dir, p.dir), append(os.Environ(), p.spec.Env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	return p.run()
}

func (p *Program) log() string { return filepath.Join(p.dir, p.spec.Name+".log") }

// await waits until the program is ready. It fails if the program ends before.
func (p *Program) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for p.spec.Ready != nil && !p.spec.Ready(ctx) {
		select {
		case <-p.ended:
			return fmt.Errorf("starting %s: it ended: %s", p.spec.Name, p.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("starting %s: it is not ready: %w", p.spec.Name, ctx.Err())
		case <-time.After(between):
		}
	}
	return nil
}

// Kill kills the program, as the failure of its node would, and returns when it has ended. Killing
// it again does nothing.
func (p *Program) Kill() {
	if p.cmd == nil || p.cmd.Process == nil {
		return // it was never started
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
}
