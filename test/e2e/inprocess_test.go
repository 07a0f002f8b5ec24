package e2e

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/script"
)

// ran is what came of a command that ran in the test's own process, where a test can stand between
// it and the server.
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
	code, out, errOut := script.InProcess(t.Context(), typed, args...)
	return ran{code, out, errOut}
}
