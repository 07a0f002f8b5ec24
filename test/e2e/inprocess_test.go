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

// run runs kubectl gc with what a person would type.
func run(t *testing.T, kubeconfig, typed string, args ...string) ran {
	t.Helper()
	var out, errOut lockedBuffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(typed), Out: &out, ErrOut: &errOut}
	code := cmd.Main(t.Context(), streams, append(append([]string{"kubectl-gc"}, args...), "--kubeconfig", kubeconfig))
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
