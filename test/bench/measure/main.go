// Command measure runs the command in its arguments and prints the time and memory that it took, as
// JSON. It is a program of its own, and a small one, because the kernel counts the memory of
// whoever starts a process to the peak of what is started.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// usage is what one run of a command took. The peak is in bytes of memory, 0 where it is not known.
type usage struct {
	Wall, CPU time.Duration
	Peak      int64
}

func main() {
	// The command is told, too, by whoever tells this: it has to end first to be measured.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "measure: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("no command to measure")
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	begin := time.Now()
	err := cmd.Run()
	wall := time.Since(begin)
	if err != nil {
		return fmt.Errorf("running %s: %w", args[0], err)
	}
	state := cmd.ProcessState
	return json.NewEncoder(os.Stdout).Encode(usage{
		Wall: wall, CPU: state.UserTime() + state.SystemTime(), Peak: peakMemory(state),
	})
}
