package testcluster

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// running is a control plane that runs as a child of this process. It ends when its stdin is
// closed, and so even when this process is killed.
type running struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr bytes.Buffer
}

// run starts a control plane in dir and returns when it is ready.
func run(binary, dir string, flags []string) (*running, error) {
	r := &running{cmd: exec.Command(binary, append([]string{"run", "--until-stdin-closes", "--dir", dir}, flags...)...)}
	r.cmd.Stderr = &r.stderr
	// A third of what a start costs is collecting garbage. With half of the processors for each of
	// its programs, tests that run side by side take an eighth less processor time: Go's scheduler
	// looks for work on each of them.
	r.cmd.Env = append(os.Environ(), "GOGC=400", fmt.Sprintf("GOMAXPROCS=%d", max(1, runtime.NumCPU()/2)))
	stdin, err := r.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	r.stdin = stdin
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the control plane: %w", err)
	}
	// The one line that it prints says that it is ready.
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "export KUBECONFIG=") {
		return nil, errors.Join(fmt.Errorf("starting the control plane: it said %q (%w)", line, err), r.stop())
	}
	return r, nil
}

// stop ends the control plane. Its error says that it had ended before, and why.
func (r *running) stop() error {
	_ = r.stdin.Close()
	late := time.AfterFunc(30*time.Second, func() { _ = r.cmd.Process.Kill() })
	defer late.Stop()
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("the control plane: %w: %s", err, &r.stderr)
	}
	return nil
}
