package cmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// runsAs is in the environment of a process of this test that is to be the command.
const runsAs = "KUBECTL_GC_TEST_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(runsAs) != "" {
		os.Exit(Process())
	}
	os.Exit(m.Run())
}

// TestAClosedPipeDoesNotEndTheProcess in the middle of what it does, as the signal would: the
// command ends with exit code 1, and with no word if all that it did was to print.
func TestAClosedPipeDoesNotEndTheProcess(t *testing.T) {
	t.Parallel()
	out, closed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out.Close()
	defer closed.Close()
	var stderr bytes.Buffer
	c := exec.CommandContext(t.Context(), os.Args[0], "explain", "-A")
	c.Env, c.Stdout, c.Stderr = append(os.Environ(), runsAs+"=1"), closed, &stderr
	var ended *exec.ExitError
	if err := c.Run(); !errors.As(err, &ended) || ended.ExitCode() != 1 || stderr.Len() > 0 {
		t.Errorf("it ends with %v, and says %q", err, stderr.String())
	}
}

// TestACommandEndsWhenNobodyReadsIt, by its output or its progress.
func TestACommandEndsWhenNobodyReadsIt(t *testing.T) {
	for name, choose := range map[string]func(genericiooptions.IOStreams) io.Writer{
		"stdout": func(s genericiooptions.IOStreams) io.Writer { return s.Out },
		"stderr": func(s genericiooptions.IOStreams) io.Writer { return s.ErrOut },
	} {
		r, w := io.Pipe()
		ctx, streams, end := whileRead(t.Context(), genericiooptions.IOStreams{Out: w, ErrOut: w})
		defer end()
		go func() { _, _ = io.CopyN(io.Discard, r, 1) }()
		if _, err := choose(streams).Write([]byte("a")); err != nil || ctx.Err() != nil {
			t.Errorf("%s, while it is read: %v, %v", name, err, ctx.Err())
		}
		r.Close()
		if _, err := choose(streams).Write([]byte("b")); err == nil {
			t.Errorf("%s: it is written to", name)
		}
		if cause := context.Cause(ctx); !errors.Is(cause, errUnread) || !errors.Is(cause, context.Canceled) {
			t.Errorf("%s: the context ended with %v", name, cause)
		}
	}
}
