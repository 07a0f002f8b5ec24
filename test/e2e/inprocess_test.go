package e2e

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

// ran is what came of a command that ran in the test's own process, where a test can stand between it and the server.
type ran struct {
	code           int
	stdout, stderr string
}

func run(t *testing.T, args ...string) ran {
	t.Helper()
	return runTyping(t, "", args...)
}

// runTyping runs kubectl gc with what a person types.
func runTyping(t *testing.T, typed string, args ...string) ran {
	t.Helper()
	var out, errOut lockedBuffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(typed), Out: &out, ErrOut: &errOut}
	code := cmd.Main(t.Context(), streams, append([]string{"kubectl-gc"}, args...))
	return ran{code, out.String(), errOut.String()}
}

// lockedBuffer can be written to from several goroutines, as a file can.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
