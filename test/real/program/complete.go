package program

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// Complete runs a program to its end. The error of one that fails has what it printed. Ready is not
// asked.
func Complete(t testing.TB, spec Spec) error {
	t.Helper()
	file, err := find(spec.Name)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), file, spec.Args...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), spec.Env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running %s %q: %w: %s", spec.Name, spec.Args, err, out)
	}
	return nil
}
