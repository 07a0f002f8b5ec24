package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// goBenchmarks runs the benchmarks of the packages that hold the objects and decode them, and
// prints their lines.
func goBenchmarks(ctx context.Context, out io.Writer) error {
	say("running the Go benchmarks")
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", ".", "./pkg/graph", "./pkg/cluster")
	cmd.Stderr = os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("running the go benchmarks: %w: %s", err, bytes.TrimSpace(answer))
	}
	fmt.Fprintln(out)
	for lines := bufio.NewScanner(bytes.NewReader(answer)); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "Benchmark") {
			fmt.Fprintln(out, lines.Text())
		}
	}
	return nil
}
