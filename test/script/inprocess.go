package script

import (
	"bytes"
	"context"
	"strings"
	"sync"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

// InProcess runs kubectl gc in the test's own process, where a test can stand between it and the
// server, with what a person types. It returns the exit code and what was printed.
func InProcess(ctx context.Context, typed string, args ...string) (code int, stdout, stderr string) {
	var out, errOut Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(typed), Out: &out, ErrOut: &errOut}
	code = cmd.Main(ctx, streams, append([]string{"kubectl-gc"}, args...))
	return code, out.String(), errOut.String()
}

// Buffer can be written to from several goroutines, as a file can. Its zero value is ready to use.
type Buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends to what is in the buffer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String returns what has been written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
