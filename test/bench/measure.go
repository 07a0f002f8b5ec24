package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// usage is what one run of a command took, as the program measure prints it.
type usage struct {
	Wall, CPU time.Duration
	Peak      int64
}

// command is what is measured.
type command struct {
	name string
	args []string
	env  []string
}

// meter measures commands.
type meter struct{ program string }

// newMeter builds the program that does it.
func newMeter(ctx context.Context, dir string) (meter, error) {
	m := meter{program: filepath.Join(dir, "measure")}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", m.program, "./test/bench/measure")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return m, fmt.Errorf("building ./test/bench/measure: %w; run bench in the root of the repository", err)
	}
	return m, nil
}

// run runs the command once.
func (m meter) run(ctx context.Context, c command) (usage, error) {
	var u usage
	c.args = append([]string{m.program}, c.args...)
	out, err := c.output(ctx)
	if err != nil {
		return u, err
	}
	if err := json.Unmarshal(out, &u); err != nil {
		return u, fmt.Errorf("measuring %s: %w", c.name, err)
	}
	return u, nil
}

// output runs the command and returns what it prints.
func (c command) output(ctx context.Context) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("running %s: %w: %s", c.name, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// runs are the usages of one command.
type runs []usage

// best takes the least of each figure: what else the machine does can only add.
func (r runs) best() usage {
	best := r[0]
	for _, u := range r[1:] {
		best.Wall, best.CPU, best.Peak = min(best.Wall, u.Wall), min(best.CPU, u.CPU), min(best.Peak, u.Peak)
	}
	return best
}

func (r runs) median() time.Duration {
	walls := make([]time.Duration, len(r))
	for i, u := range r {
		walls[i] = u.Wall
	}
	slices.Sort(walls)
	return walls[len(walls)/2]
}
