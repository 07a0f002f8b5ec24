package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
)

// TestFailTellsAllThatFailed: neither an interruption nor the answer no hides what failed or was
// refused besides.
func TestFailTellsAllThatFailed(t *testing.T) {
	t.Parallel()
	interruption := fmt.Errorf("listing pods: %w", context.Canceled)
	missing, refused := errors.New(`pods "x" not found`), answer.Refuse(errors.New("it is too much"))
	tests := map[string]struct {
		err            error
		interrupted    bool
		code           int
		stdout, stderr string
	}{
		"interrupted": {interruption, true, 130, "", "error: interrupted\n"},
		"interrupted twice": {errors.Join(interruption, interruption), true, 130, "",
			"error: interrupted\n"},
		"interrupted after a failure": {errors.Join(missing, interruption), true, 130, "",
			"error: pods \"x\" not found\nerror: interrupted\n"},
		"interrupted after a refusal": {errors.Join(refused, interruption), true, 130, "",
			"error: it is too much\nerror: interrupted\n"},
		"interrupted, and it says what is left": {errors.New("interrupted; not deleted yet: x"), true, 130, "",
			"error: interrupted; not deleted yet: x\n"},
		"cancelled by somebody else": {interruption, false, 1, "", "error: listing pods: context canceled\n"},
		"no":                         {answer.ErrCancelled, false, 2, "deletion is cancelled\n", ""},
		"no, and something is not there": {errors.Join(missing, answer.ErrCancelled), false, 1,
			"deletion is cancelled\n", "error: pods \"x\" not found\n"},
		"no, and something was refused": {errors.Join(answer.Cancelled("cancelled"), refused), false, 2,
			"cancelled\n", "error: it is too much\n"},
		"a finding": {answer.ErrFound, false, 2, "", ""},
		"a finding and a failure": {errors.Join(answer.ErrFound, missing), false, 1, "",
			"error: pods \"x\" not found\n"},
		"a refusal": {refused, false, 2, "", "error: it is too much\n"},
		"a refusal and a failure": {errors.Join(refused, missing), false, 1, "",
			"error: it is too much\nerror: pods \"x\" not found\n"},
		"a refusal with a hint, after a failure": {errors.Join(missing,
			answer.Refuse(answer.WithHint(errors.New("no"), "say yes"))), false, 1, "",
			"error: pods \"x\" not found\nerror: no\nhint: say yes\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			if tt.interrupted {
				interrupt()
			}
			var out, errOut bytes.Buffer
			streams := genericiooptions.IOStreams{Out: &out, ErrOut: &errOut}
			code := fail(ctx, env.New(streams, genericclioptions.NewConfigFlags(false)), tt.err)
			if code != tt.code || out.String() != tt.stdout || errOut.String() != tt.stderr {
				t.Errorf("exit code %d, want %d\nstdout %q, want %q\nstderr %q, want %q", code, tt.code, &out, tt.stdout, &errOut,
					tt.stderr)
			}
		})
	}
}
