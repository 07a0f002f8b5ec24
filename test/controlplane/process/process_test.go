package process

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary plays the processes that are started: what it does is its first argument.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || !strings.HasPrefix(os.Args[1], "play-") {
		os.Exit(m.Run())
	}
	if err := Adopt(); err != nil {
		os.Exit(1)
	}
	switch os.Args[1] {
	case "play-stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "play-parent":
		if _, err := Start(spec(filepath.Dir(os.Args[2]), "child", os.Args[2], "play-stubborn")); err != nil {
			os.Exit(1)
		}
	case "play-failing":
		os.Stderr.WriteString("first\nlast words\n")
		os.Exit(3)
	}
	// It plays until a signal or the end of its lifeline ends it. It cannot wait for the end of its
	// standard input, which Start does not connect; the minute is for a test that is killed before
	// it ends what it has started.
	time.Sleep(time.Minute)
}

func spec(dir, name, lifeline string, args ...string) Spec {
	return Spec{Args: args, Dir: dir, Log: filepath.Join(dir, name+".log"), Record: filepath.Join(dir, name+".pid"),
		Lifeline: lifeline}
}

// eventually looks again and again: what another process writes into a record, and the end of a
// process that is no child of this one, cannot be waited for.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 20 seconds: %s", what)
		}
	}
}

func TestStop(t *testing.T) {
	for _, play := range []string{"play-obedient", "play-stubborn"} {
		dir := t.TempDir()
		s := spec(dir, "one", "", play)
		p, err := Start(s)
		if err != nil {
			t.Fatal(err)
		}
		if !Alive(s.Record) {
			t.Fatalf("%s: the record says that nothing runs right after the start", play)
		}
		if _, err := Start(s); !errors.Is(err, ErrHeld) {
			t.Errorf("%s: a second start under the same record gave %v, want ErrHeld", play, err)
		}
		if _, err := Hold(s.Record); !errors.Is(err, ErrHeld) {
			t.Errorf("%s: holding a record in use gave %v, want ErrHeld", play, err)
		}
		// Stopping at once meets the process before it has written its pid.
		if err := Stop(t.Context(), s.Record, 50*time.Millisecond); err != nil {
			t.Fatalf("%s: %v", play, err)
		}
		if Alive(s.Record) {
			t.Errorf("%s: alive after Stop", play)
		}
		<-p.Ended()
		if err := Stop(t.Context(), s.Record, 0); err != nil {
			t.Errorf("%s: stopping what is stopped: %v", play, err)
		}
	}
}

// A record left by a process that is gone may hold the pid of a stranger by now.
func TestStopLeavesStrangersAlone(t *testing.T) {
	dir := t.TempDir()
	stranger, err := Start(spec(dir, "stranger", "", "play-obedient"))
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Kill()
	eventually(t, "the stranger writes its pid",
		func() bool { _, err := readPid(filepath.Join(dir, "stranger.pid")); return err == nil })
	text, err := os.ReadFile(filepath.Join(dir, "stranger.pid"))
	if err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(dir, "stale.pid")
	if err := os.WriteFile(stale, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Stop(context.Background(), stale, 0); err != nil {
		t.Fatal(err)
	}
	if !Alive(filepath.Join(dir, "stranger.pid")) {
		t.Error("the stranger was stopped")
	}
}

func TestLifeline(t *testing.T) {
	dir := t.TempDir()
	record, child := filepath.Join(dir, "parent.pid"), filepath.Join(dir, "child.pid")
	parent, err := Start(spec(dir, "parent", "", "play-parent", record))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child writes its pid", func() bool { _, err := readPid(child); return err == nil })
	if !Alive(child) {
		t.Fatal("the child is not alive")
	}
	parent.Kill()
	eventually(t, "the child ends with its parent", func() bool { return !Alive(child) })
}

func TestOutcomeAndTail(t *testing.T) {
	s := spec(t.TempDir(), "failing", "", "play-failing")
	p, err := Start(s)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Ended()
	if got := p.Outcome(); got != "exit status 3" {
		t.Errorf("outcome %q", got)
	}
	if got := Tail(s.Log, 1); got != "last words" {
		t.Errorf("tail of one line %q", got)
	}
	if got := Tail(s.Log, 9); got != "first\nlast words" {
		t.Errorf("tail of nine lines %q", got)
	}
	if got := Tail(s.Log+".missing", 9); !strings.HasPrefix(got, "(cannot be read") {
		t.Errorf("tail of a missing log %q", got)
	}
}
