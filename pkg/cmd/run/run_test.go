package run

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
)

// parse returns the options that arguments come to. No server is asked.
func parse(args ...string) (*Options, error) {
	config := genericclioptions.NewConfigFlags(true)
	var got *Options
	cmd := New(env.New(genericiooptions.IOStreams{In: new(bytes.Buffer), Out: io.Discard, ErrOut: io.Discard}, config),
		func(_ context.Context, o *Options) error {
			got = o
			return nil
		})
	config.AddFlags(cmd.Flags())
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	return got, cmd.Execute()
}

// TestFlagsThatContradictEachOtherAreRefused before anything is asked of a server.
func TestFlagsThatContradictEachOtherAreRefused(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"pod/x":                            "run takes no arguments",
		"-n shop -A":                       "-n and -A cannot be used together",
		"--once=false":                     "--once=false requires --watch",
		"--dry-run=server":                 "--dry-run=server",
		"--dry-run=maybe":                  "invalid dry-run value (maybe)",
		"--dry-run --watch":                "--dry-run cannot be used together with --wait or --watch",
		"--dry-run --wait":                 "--dry-run cannot be used together with --wait or --watch",
		"--dry-run --events":               "--dry-run cannot be used together with --events",
		"--archive a --watch":              "--archive cannot be used together with --watch",
		"--archive a --dry-run":            "--archive needs a run that writes",
		"--archive=":                       "--archive needs the name of a file",
		"--watch --wait":                   "--watch cannot be used together with --wait",
		"--wait --timeout=-1s":             "--timeout must not be negative",
		"--timeout=1s":                     "--timeout requires --wait",
		"--max-deletes=-1":                 "--max-deletes must not be negative",
		"--watch -o json":                  "--watch cannot be used together with -o json",
		"-l a==b==c":                       "--selector",
		"--treat-kind-as-gone Thing":       "expected GROUP/VERSION/KIND",
		"--treat-kind-as-gone example.com": "GROUP/VERSION/KIND",
		"-o nonsense":                      "nonsense",
		"-o sarif":                         "-o sarif is of what would be done",
		"--fail-on=comes-back":             "--fail-on takes data-loss, stuck, protected, stranded, gaps, not",
		"--fail-on=":                       `--fail-on takes data-loss, stuck, protected, stranded, gaps, not ""`,
		"--selector=":                      "--selector is empty",
		"--types=":                         "--types is empty",
		"--namespace=":                     "--namespace is empty",
	} {
		o, err := parse(strings.Fields(args)...)
		if err == nil || !strings.Contains(err.Error(), want) || o != nil {
			t.Errorf("run %s: %v, want %q", args, err, want)
		}
	}
}

// TestFlagsBecomeARequest with what they restrict and allow.
func TestFlagsBecomeARequest(t *testing.T) {
	t.Parallel()
	o, err := parse("-n", "shop", "-l", "app=web", "--types", "secrets,pods", "--max-deletes=3", "--wait", "--timeout=2m",
		"--allow-mass-collection", "--hold-mismatched", "--break-deadlocks", "--treat-kind-as-gone", "example.com/v1/Thing",
		"--treat-kind-as-gone", "/v1/Old", "--events")
	if err != nil {
		t.Fatal(err)
	}
	r, err := o.request()
	if err != nil {
		t.Fatal(err)
	}
	if r.Namespace != "shop" || r.Selector.String() != "app=web" || !slices.Equal(r.Types, []string{"secrets", "pods"}) {
		t.Errorf("it may write to namespace %q, labels %v, types %v", r.Namespace, r.Selector, r.Types)
	}
	if r.MaxDeletes != 3 || !r.Wait || r.Watch || r.Timeout != 2*time.Minute || !r.AllowOwnerLoss || r.Warned == nil {
		t.Errorf("request %+v", r)
	}
	unserved := r.Overrides.UnservedKinds
	if !r.Overrides.KeepMismatched || !r.Overrides.BreakDeadlocks || len(unserved) != 2 ||
		!unserved[[2]string{"example.com/v1", "Thing"}] || !unserved[[2]string{"v1", "Old"}] {
		t.Errorf("overrides %+v", r.Overrides)
	}
}

// TestWithoutFlagsARunIsBoundByNothingButTheBreakers, and writes no events.
func TestWithoutFlagsARunIsBoundByNothingButTheBreakers(t *testing.T) {
	t.Parallel()
	o, err := parse("--dry-run")
	if err != nil {
		t.Fatal(err)
	}
	if o.DryRun != "client" || o.Yes || o.Namespaced {
		t.Errorf("options %+v", o)
	}
	r, err := o.request()
	if err != nil || r.Namespace != "" || r.Selector != nil || r.AllowOwnerLoss || r.Warned != nil ||
		r.Timeout != env.NoTimeout {
		t.Errorf("request %+v, %v", r, err)
	}
}

// TestTheEnvironmentDoesNotMakeAWatchSaveAnArchive, after which it would collect no more.
func TestTheEnvironmentDoesNotMakeAWatchSaveAnArchive(t *testing.T) {
	t.Setenv("KUBECTL_GC_ARCHIVE", "auto")
	t.Setenv("HOME", t.TempDir())
	o, err := parse("--watch", "--yes")
	if err != nil || o.Archive != "" {
		t.Errorf("options %+v, %v", o, err)
	}
	if o, err = parse("--yes"); err != nil || o.Archive == "" {
		t.Errorf("without --watch: options %+v, %v", o, err)
	}
}
