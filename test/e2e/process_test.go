package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// process is kubectl gc as a process of its own, which can be sent signals. It is killed at the end
// of the test.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr script.Buffer
	ended          chan struct{}
	read           chan struct{} // closed when all it has written to a terminal is read; nil without one
}

// start starts kubectl gc with a standard input that stays open.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := newProcess(t, args...)
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin = stdin
	p.cmd.Stdout = &p.stdout
	p.run()
	return p
}

// newProcess returns a process that is not started yet.
func newProcess(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command("kubectl-gc", args...), ended: make(chan struct{})}
	p.cmd.Stderr = &p.stderr
	return p
}

func (p *process) run() {
	p.t.Helper()
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the exit code is read from the state
		close(p.ended)
	}()
	p.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
}

// code waits for the end of the process and returns its exit code, -1 if a signal ended it.
func (p *process) code() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		p.t.Fatalf("%q goes on; stdout: %s\nstderr: %s", p.cmd.Args, &p.stdout, &p.stderr)
	}
	if p.read != nil {
		<-p.read
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// until waits until the process has written a text.
func (p *process) until(out *script.Buffer, text string) {
	p.t.Helper()
	defer func() {
		if p.t.Failed() {
			p.t.Logf("it said:\n%s\n%s", &p.stdout, &p.stderr)
		}
	}()
	testcluster.Eventually(p.t, fmt.Sprintf("%q says %q", p.cmd.Args, text), func(context.Context) (bool, error) {
		select {
		case <-p.ended:
			return false, errors.New("it has ended")
		default:
			return strings.Contains(out.String(), text), nil
		}
	})
}
