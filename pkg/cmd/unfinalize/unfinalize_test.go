package unfinalize

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
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

// TestFlagsBecomeARequest: each combination of flags means one request of the library.
func TestFlagsBecomeARequest(t *testing.T) {
	for args, want := range map[string]unfinalize.Request{
		"configmap/a": {DryRun: true},
		"configmap/a --finalizer x --finalizer y": {Finalizers: []string{"x", "y"}, DryRun: true},
		"configmap/a --finalizer x --dry-run":     {Finalizers: []string{"x"}},
		"configmap a --finalizer x --force": {Finalizers: []string{"x"}, DryRun: true,
			Overrides: unfinalize.Overrides{Force: true}},
		"--all-stuck -A --finalizer x --force-live": {Finalizers: []string{"x"}, AllStuck: true, DryRun: true,
			Overrides: unfinalize.Overrides{ForceLive: true}},
		"--tree ns/a --finalizer x --dry-run=server": {Finalizers: []string{"x"}, Tree: true, DryRun: true},
	} {
		o, err := parse(t, args)
		if err != nil || o == nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		got := o.request(t.Context())
		got.Choose, got.OnGaps, got.OnLeftAlone, got.OnSecondLook = nil, nil, nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", args, got, want)
		}
	}
}

// TestFlagsThatContradictEachOther are refused before anything is asked of the server.
func TestFlagsThatContradictEachOther(t *testing.T) {
	for args, want := range map[string]string{
		"":                                  "you must specify the objects",
		"configmaps":                        "you must specify the objects",
		"configmaps -l app=x":               "--finalizer is required",
		"-l app=x --finalizer x":            "-l needs the types of the objects",
		"--all-stuck":                       "--finalizer is required",
		"--all-stuck -i":                    "--interactive needs a terminal",
		"configmap/a -i --finalizer x":      "--interactive does not go with --finalizer",
		"configmap/a -i --yes":              "--interactive does not go with --finalizer, --yes",
		"--all-stuck configmap/a":           "--all-stuck takes no objects",
		"--tree configmap/a pod/b":          "--tree takes no other objects",
		"--tree configmaps":                 "--tree needs an object as TYPE/NAME",
		"configmap/a -A":                    "-A requires -l or --all-stuck",
		"configmap/a --finalizer=":          "--finalizer needs the name of a finalizer",
		"configmap/a --dry-run=half":        "invalid dry-run value (half)",
		"-f -":                              "standard input",
		"configmap/a --archive a --dry-run": "--archive needs a removal",
		"configmap/a -o xml":                "xml",
	} {
		o, err := parse(t, args)
		if o != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", args, err, want)
		}
	}
}
