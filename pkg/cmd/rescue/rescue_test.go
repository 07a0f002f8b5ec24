package rescue

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
)

// parse runs the command with a runF that asks no server, and returns the options that it was
// called with; nil if it was not.
func parse(t *testing.T, args string) (*Options, error) {
	t.Helper()
	var called *Options
	cmd := New(env.New(genericiooptions.NewTestIOStreamsDiscard(), genericclioptions.NewConfigFlags(true)),
		func(_ context.Context, o *Options) error {
			called = o
			return nil
		})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(strings.Fields(args))
	return called, cmd.ExecuteContext(t.Context())
}

func TestFlagsBecomeOptions(t *testing.T) {
	for _, args := range []string{"configmap/a", "configmap a"} {
		o, err := parse(t, args+" --archive a.yaml --timeout=5m --force -y --dry-run")
		if err != nil || o == nil || o.Archive != "a.yaml" || o.Timeout != 5*time.Minute || !o.Force || !o.Yes ||
			o.DryRun != "client" {
			t.Errorf("%s: %+v, %v", args, o, err)
		}
	}
}

// TestFlagsThatMakeNoSense are refused before anything is asked of the server.
func TestFlagsThatMakeNoSense(t *testing.T) {
	for args, want := range map[string]string{
		"":                            "you must specify one object",
		"configmap":                   "you must specify one object",
		"configmap/a configmap/b":     "you must specify one object",
		"configmap a b":               "you must specify one object",
		"configmap/a --archive=":      "--archive needs the name of a file",
		"configmap/a --archive -":     "--archive needs the name of a file",
		"configmap/a --timeout=-1s":   "--timeout must not be negative",
		"configmap/a --dry-run=maybe": "invalid dry-run value",
	} {
		if o, err := parse(t, args); o != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
