package process

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Spec describes a process to start: this very program, which has to call Adopt, with other
// arguments.
type Spec struct {
	// Args are its arguments.
	Args []string
	// Dir is its working directory; empty for that of the caller.
	Dir string
	// Log is the file that its output is added to.
	Log string
	// Record is the file that it is found by.
	Record string
	// Lifeline is the record of the process that this one must not outlive; empty for none.
	Lifeline string
}

// Process is one that Start started.
type Process struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// Start starts what spec says, in a session of its own so that a Ctrl-C meant for the caller does
// not reach it, and returns without waiting. It fails with ErrHeld if the record's process is
// running.
func Start(spec Spec) (*Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	log, err := os.OpenFile(spec.Log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening a log: %w", err)
	}
	defer log.Close()
	// Locked here and inherited, so that there is no moment at which the process lives without its
	// lock.
	record, err := lock(spec.Record)
	if err != nil {
		return nil, err
	}
	defer record.Close()
	if err := record.Truncate(0); err != nil {
		return nil, fmt.Errorf("clearing the record %s: %w", spec.Record, err)
	}

	cmd := exec.Command(program, spec.Args...)
	cmd.Dir = spec.Dir
	cmd.Env = append(os.Environ(), recordVariable+"=1", lifelineVariable+"="+spec.Lifeline)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{record}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Outcome says how the process ended; it is to be asked after Ended was closed.
func (p *Process) Outcome() string { return p.cmd.ProcessState.String() }

// Kill ends the process at once and waits for its end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}
