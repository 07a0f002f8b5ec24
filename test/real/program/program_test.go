package program

import (
	"context"
	"strings"
	"testing"
)

func TestMissingProgramSaysWhatToDo(t *testing.T) {
	if _, err := find("no-such-program"); err == nil ||
		!strings.Contains(err.Error(), `run "make bin/no-such-program" first`) {
		t.Errorf("got %v", err)
	}
}

// TestEndedProgramIsAnError: a program that ends before it is ready is reported, with the end of
// its log at hand.
func TestEndedProgramIsAnError(t *testing.T) {
	file, err := find("kubectl-gc")
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{spec: Spec{Name: "kubectl-gc", Args: []string{"no-such-command"},
		Ready: func(context.Context) bool { return false }}, file: file, dir: t.TempDir()}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	if err := p.await(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "starting kubectl-gc: it ended: exit status 1") {
		t.Errorf("got %v", err)
	}
	if log := tail(p.log(), 5); !strings.Contains(log, "no-such-command") {
		t.Errorf("the log ends with %q", log)
	}
	p.Kill()
}
