package uninstall

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// timeOut deletes in stages while the operators do not come to an end with what they do outside the
// cluster. They are held afterwards.
func (i *installed) timeOut(t *testing.T) {
	t.Helper()
	i.hold()
	cmd, out := i.ordered("--stage-timeout=2s")
	i.wantEnd(t, cmd.Run(), 2, out, "stage 1 of 4: timed out after 2s; not deleted yet: ")
	i.testBegun(t)
}

// interrupt sends SIGINT to a deletion in stages whose first stage does not end.
func (i *installed) interrupt(t *testing.T) {
	t.Helper()
	i.hold()
	cmd, out := i.ordered()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The lines of the stage are printed before its requests are sent.
	testcluster.Eventually(t, "all of the first stage is being deleted", func(context.Context) (bool, error) {
		now := objects(t, i.cluster)
		for uid := range i.held {
			if !now[uid].deleting {
				return false, nil
			}
		}
		return true, nil
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	i.wantEnd(t, cmd.Wait(), 130, out, "interrupted")
	i.testBegun(t)
	i.resume()
}

// kill kills a deletion in stages when its second stage begins: what the operators release is gone
// then.
func (i *installed) kill(t *testing.T) {
	t.Helper()
	cmd, out := i.ordered()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, out, "stage 2 of 4")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	i.wantEnd(t, cmd.Wait(), -1, out, "stage 1 of 4")
	now := objects(t, i.cluster)
	for uid, name := range i.held {
		if _, is := now[uid]; is {
			t.Errorf("the second stage has begun, and %s is there", name)
		}
	}
}

func (i *installed) hold() {
	for _, o := range i.operators {
		o.Hold()
	}
	i.holding = true
}

func (i *installed) resume() {
	for _, o := range i.operators {
		o.Resume()
	}
	i.holding = false
}

// until waits until a process has printed a text.
func until(t *testing.T, out *script.Buffer, text string) {
	t.Helper()
	testcluster.Eventually(t, "it prints "+text,
		func(context.Context) (bool, error) { return strings.Contains(out.String(), text), nil })
}

// wantEnd tests how a process has ended; the code is -1 if a signal ended it.
func (i *installed) wantEnd(t *testing.T, err error, code int, out *script.Buffer, says string) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != code || !strings.Contains(out.String(), says) {
		t.Errorf("%s ended with %v, want exit code %d and %q:\n%s", i.name, err, code, says, out)
	}
}

// testBegun tests that the first stage of a deletion has begun, and no other: what waits for
// operators is being deleted, and all else of the bundle but its custom resources is as it was.
func (i *installed) testBegun(t *testing.T) {
	t.Helper()
	now := objects(t, i.cluster)
	for uid, name := range i.held {
		if !now[uid].deleting {
			t.Errorf("%s is not being deleted", name)
		}
	}
	alive := map[string]bool{}
	for _, o := range now {
		alive[o.name] = !o.deleting
	}
	for _, name := range i.documents(t) {
		if custom := strings.HasPrefix(strings.ToLower(name), i.name); !custom && !alive[name] {
			t.Errorf("in the first stage %s is deleted", name)
		}
	}
}
